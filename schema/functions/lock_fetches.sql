-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_fetches(p_ended livewell.ended_fetch[])
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
    v_locked livewell.ended_fetch[];
    v_items bigint[];
begin
    select array_agg(case when i.id is not null then e else jsonb_populate_record(e, '{"item": null}') end),
        array_agg(i.id) filter (where e.outcome <> 'throttled')
    into v_locked, v_items
    from unnest(p_ended) as e
    cross join lateral (
        select j.lease_token, j.kind, j.payload ->> 'item' as item from livewell.job_live as j where j.id = e.job for update
    ) as j
    left join livewell.item as i
        on i.id = e.item and i.data_type = e.type and i.key = e.key and j.item = e.item::text and j.kind = 'refresh.' || e.type
    where j.lease_token = e.token;
    perform from livewell.item as i where i.id = any (v_items) order by i.id for no key update;
    return v_locked;
end $function$;
