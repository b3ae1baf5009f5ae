-- Every limit as people see it: how much of it is used, in flight and waiting, and when it opens if it is closed.
-- for: service
create or replace function livewell.budget_state(p_now timestamptz default clock_timestamp())
returns table (
    name text, kind text, provider text, state text, requests_per_minute integer, requests_last_minute integer,
    requests_per_hour integer, requests_last_hour integer, tokens_per_minute integer, tokens_last_minute bigint,
    tokens_per_hour integer, tokens_last_hour bigint, concurrent integer, in_flight integer, waiting integer, learned jsonb,
    opens_at timestamptz, closed_reason text, breaker text, breaker_until timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_epoch constant double precision := extract(epoch from p_now);
begin
    return query
    with flights as materialized (
        select f.* from unnest(livewell_private.flights(array(select p.name from livewell_private.provider as p), p_now)) as f
    ),
    waiting as materialized (
        select j.endpoint, count(*) as jobs from livewell_private.job_live as j
        where j.endpoint is not null and j.state = 'pending'
        group by j.endpoint
    )
    select
        l.name, l.kind, l.provider, l.state, l.requests_per_minute,
        coalesce((select sum(x) from unnest(u.minute_requests[w.first_minute:]) as x), 0)::integer, l.requests_per_hour,
        coalesce((select sum(x) from unnest(u.hour_requests[w.first_hour:]) as x), 0)::integer, l.tokens_per_minute,
        coalesce((select sum(x) from unnest(u.minute_tokens[w.first_minute:]) as x), 0), l.tokens_per_hour,
        coalesce((select sum(x) from unnest(u.hour_tokens[w.first_hour:]) as x), 0), l.concurrent,
        (
            select coalesce(sum(f.calls), 0) from flights as f
            where case l.kind
                when 'endpoint' then f.endpoint = l.name
                when 'account' then f.provider = l.provider
                else f.provider = l.provider and f.api_key in (
                    select k.name from livewell_private.api_key as k where k.provider = l.provider and l.name = k.provider || '@' || k.scope
                )
            end
        )::integer,
        coalesce((
            select sum(g.jobs) from waiting as g
            where g.endpoint = l.name or (l.kind = 'account' and split_part(g.endpoint, '/', 1) = l.provider)
        ), 0)::integer,
        nullif(jsonb_strip_nulls(jsonb_build_object(
            'requests_per_minute', u.learned_per_minute, 'requests_per_hour', u.learned_per_hour,
            'tokens_per_minute', u.learned_tokens_per_minute, 'tokens_per_hour', u.learned_tokens_per_hour,
            'remaining', case when u.remaining_until > p_now then u.remaining end
        )), '{}'),
        case when u.next_allowed_at > p_now then nullif(u.next_allowed_at, 'infinity') end,
        case when u.closed_until > p_now then u.closed_reason end, u.breaker, u.breaker_until
    from livewell_private.limits as l
    join livewell_private.limit_use as u on u.name = l.name
    cross join lateral (
        select (13 + greatest(0, least(60, floor(v_epoch)::bigint - u.minute_slot)))::integer as first_minute,
            (3 + greatest(0, least(60, floor(v_epoch / 60)::bigint - u.hour_slot)))::integer as first_hour
    ) as w
    order by l.name;
end $$;
