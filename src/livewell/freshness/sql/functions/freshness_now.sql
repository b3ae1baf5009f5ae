-- What is watched at this moment, by type: items and viewers, of how many the data is within its TTL, how old the oldest of it
-- is, and how many are missing; and how many items' last fetch was refused or failed, with the reason of the last of them.
-- for: service
create or replace function livewell.freshness_now(p_now timestamptz default clock_timestamp())
returns table (
    data_type text, items bigint, viewers bigint, within_ttl bigint, viewers_within_ttl bigint, missing bigint, oldest interval,
    refused bigint, failed bigint, reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select
        i.data_type, count(*), sum(i.viewers)::bigint, count(*) filter (where i.expires_at > p_now),
        coalesce(sum(i.viewers) filter (where i.expires_at > p_now), 0)::bigint, count(*) filter (where i.expires_at is null),
        max(p_now - i.fetched_at), count(*) filter (where i.last_outcome = 'refused'), count(*) filter (where i.last_outcome = 'failed'),
        (array_agg(i.last_reason order by i.last_outcome_at desc) filter (where i.last_outcome in ('refused', 'failed')))[1]
    from livewell_private.item as i
    where i.watched
    group by i.data_type
    order by i.data_type;
end $$;
