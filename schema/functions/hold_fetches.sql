-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.hold_fetches(p_ended livewell.ended_fetch[])
 RETURNS livewell.ended_fetch[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_held livewell.ended_fetch[];
    v_items bigint[];
begin
    select array_agg(row (
        e.job_id, e.lease_token, i.id, e.data_type, e.key, e.outcome, e.rows, e.many, e.source_time, e.hash, e.etag,
        e.last_modified, e.reason, e.message, e.seconds, e.status, e.bytes, e.tokens, e.rate, e.sent, i.content_hash
    )::livewell.ended_fetch), array_agg(i.id) filter (where e.outcome <> 'throttled')
    into v_held, v_items
    from unnest(p_ended) as e
    cross join lateral (
        select j.lease_token, j.kind, j.payload ->> 'item' as item from livewell.job_live as j where j.id = e.job_id for update
    ) as j
    left join livewell.item as i
        on i.id = e.item_id and i.data_type = e.data_type and i.key = e.key
        and j.item = e.item_id::text and j.kind = 'refresh.' || e.data_type
    where j.lease_token = e.lease_token;
    perform from livewell.item as i where i.id = any (v_items) order by i.id for no key update;
    return v_held;
end $function$;
