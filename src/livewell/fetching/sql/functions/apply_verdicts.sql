-- The held refreshes with what was found of them, in the order of their jobs; their rows are stored and go no further,
-- and the hash of what was not stored is not that of what is there.
-- for: internal
create or replace function livewell_private.apply_verdicts(p_held livewell_private.ended_fetch[], p_verdicts livewell_private.fetch_verdict[])
returns livewell_private.ended_fetch[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(row (
            e.job_id, e.lease_token, e.item_id, e.data_type, e.key, v.outcome, null, e.many, e.source_time,
            case when v.reason is distinct from 'same_source_time' then e.hash end,
            case when v.reason is distinct from 'nothing_stored' then e.etag end,
            case when v.reason is distinct from 'nothing_stored' then e.last_modified end, v.reason, coalesce(v.message, e.message),
            e.seconds, e.status, e.bytes, e.tokens, e.rate, e.sent, e.known_hash
        )::livewell_private.ended_fetch order by e.job_id)
        from unnest(p_held) as e join unnest(p_verdicts) as v on v.job_id = e.job_id
    );
end $$;
