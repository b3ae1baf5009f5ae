-- Locks the jobs of ended refreshes in the order of their ids, and then their items, and answers with those whose lease is still the
-- caller's: whoever lost it stores nothing. One that names another item than its job's has none; one that was throttled tells its item
-- nothing.
-- for: internal
create or replace function livewell_private.lock_fetches(p_ended livewell_private.ended_fetch[]) returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_locked livewell_private.ended_fetch[];
    v_items bigint[];
begin
    select array_agg(case when i.id is not null then e else jsonb_populate_record(e, '{"item": null}') end),
        array_agg(i.id) filter (where e.outcome <> 'throttled')
    into v_locked, v_items
    from unnest(p_ended) as e
    cross join lateral (
        select j.lease_token, j.kind, j.payload ->> 'item' as item from livewell_private.job_live as j where j.id = e.job for update
    ) as j
    left join livewell_private.item as i
        on i.id = e.item and i.data_type = e.type and i.key = e.key and j.item = e.item::text and j.kind = 'refresh.' || e.type
    where j.lease_token = e.token;
    perform from livewell_private.item as i where i.id = any (v_items) order by i.id for no key update;
    return v_locked;
end $$;
