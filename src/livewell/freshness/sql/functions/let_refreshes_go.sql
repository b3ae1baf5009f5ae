-- Refreshes that wait for items nobody looks at any more do not go before what somebody waits for: they are cancelled, or wait with
-- the scheduled work where a walk, a prefetch or a sample counts on them; what somebody queued for another cause stays. One that has
-- failed waits on, behind: dropped, it would be tried at once, as if it never had, for whoever comes back. Nobody is waited for
-- here: what others hold is being sent or is theirs to decide, and the sweep checks again.
-- for: internal
create or replace function livewell_private.let_refreshes_go(p_item_ids bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_dropped bigint[];
    v_kept bigint[];
    v_causes text[];
    v_serial_keys text[];
begin
    select array_agg(w.id) filter (where w.cause is null), array_agg(w.id) filter (where w.cause is not null),
        array_agg(w.cause) filter (where w.cause is not null),
        array_agg(w.serial_key) filter (where w.cause is not null and w.serial_key is not null)
    into v_dropped, v_kept, v_causes, v_serial_keys
    from (
        select j.id, j.serial_key, case
            when j.cause in ('scheduled', 'prefetch', 'sample') then j.cause
            when exists (select from livewell_private.scheduled_walk as w where w.data_type = i.data_type) then 'scheduled'
            when exists (select from livewell_private.sample as p where p.item_id = i.id) then 'sample'
            when j.failures > 0 then j.cause
        end as cause
        from (
            select i.id, i.data_type, i.key from livewell_private.item as i
            where i.id = any (p_item_ids) and i.viewers = 0 order by i.id for no key update skip locked
        ) as i
        cross join lateral (
            select j.id, j.serial_key, j.failures, j.payload ->> 'cause' as cause from livewell_private.job_live as j
            where j.dedupe_key = 'refresh/' || i.data_type || '/' || i.key and j.state = 'pending' and (j.priority > 0 or j.priority = 0 and j.failures = 0)
                and j.payload ->> 'cause' in ('missing', 'stale', 'subscribe', 'scheduled', 'prefetch', 'sample')
            for update skip locked
        ) as j
    ) as w;
    if v_kept is not null then
        update livewell_private.job_live as j
        set priority = case k.cause when 'scheduled' then -1 when 'prefetch' then -2 else 0 end,
            payload = j.payload - 'asked_by' || jsonb_build_object('cause', k.cause)
        from unnest(v_kept, v_causes) as k (id, cause)
        where j.id = k.id;
        perform livewell_private.after_jobs_left(v_serial_keys, null);
    end if;
    if v_dropped is not null then
        perform livewell_private.drop_jobs(v_dropped, 'nobody looks at it any more', p_now);
    end if;
end $$;
