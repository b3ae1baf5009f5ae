-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.apply_verdicts(p_held livewell.ended_fetch[], p_verdicts livewell.fetch_verdict[])
 RETURNS livewell.ended_fetch[]
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select array_agg(row (
            e.job_id, e.lease_token, e.item_id, e.data_type, e.key, v.outcome, null, e.many, e.source_time,
            case when v.reason is distinct from 'same_source_time' then e.hash end,
            case when v.reason is distinct from 'nothing_stored' then e.etag end,
            case when v.reason is distinct from 'nothing_stored' then e.last_modified end, v.reason, coalesce(v.message, e.message),
            e.seconds, e.status, e.bytes, e.tokens, e.rate, e.sent, e.known_hash
        )::livewell.ended_fetch order by e.job_id)
        from unnest(p_held) as e join unnest(p_verdicts) as v on v.job_id = e.job_id
    );
end $function$;
