-- Locks the jobs of ended refreshes in the order of their ids, and then their items, and answers with those whose lease is still the
-- caller's: whoever lost it stores nothing. One that names another item than its job's has none; one that was throttled tells its item
-- nothing. One that had begun when its item was put brings nothing new, unless the source says that it is newer.
-- for: internal
create or replace function livewell_private.lock_fetches(p_ended livewell_private.ended_fetch[]) returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_locked livewell_private.ended_fetch[];
    v_items bigint[];
    v_any_put boolean;
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
    -- Not by a condition, which would be asked before the lock: what does not meet it would not be locked.
    select bool_or(i.put_at is not null) into v_any_put
    from (
        select i.id, i.put_at from livewell_private.item as i where i.id = any (v_items) order by i.id for no key update
    ) as i;
    if v_any_put is not true then
        return v_locked;
    end if;
    return array(
        select case when s.is_over then jsonb_populate_record(
            e, '{"outcome": "unchanged", "reason": "put_meanwhile", "rows": null, "message": "it was put after this fetch had begun"}'
        ) else e end
        from unnest(v_locked) as e
        left join livewell_private.item as i on i.id = e.item
        left join livewell_private.job_live as j on j.id = e.job
        cross join lateral (
            select e.outcome in ('fetched', 'unchanged', 'gone') and coalesce(j.started_at <= i.put_at, false)
                and coalesce(e.source_time > i.put_source_time, false) is not true as is_over
        ) as s
    );
end $$;
