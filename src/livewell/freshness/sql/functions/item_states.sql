-- The state of items, one row for each in their order: version, age, what is left of their TTL, whether a refresh runs or may run now, and
-- else what it waits for (budget, gate, provider, others) and until when, if that is known; and whether the provider does not have it. An
-- item that is not there any more is a row of nulls. By primary key, and no table of a user's is read: a gateway asks it all the time.
-- for: service
create or replace function livewell.item_states(p_items bigint[], p_now timestamptz default clock_timestamp())
returns table (
    item_id bigint, version bigint, fetched_at timestamptz, age interval, fresh_for interval, refreshing boolean, waiting_for text,
    waiting_until timestamptz, gone boolean
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    return query
    with asked as materialized (
        select a.item_id, a.at, i.id is not null as is_there, i.data_type, i.version, i.fetched_at, i.expires_at, i.decision, i.due_at,
            i.last_outcome, j.state, j.waiting_for, j.due_at as job_due_at, j.failures
        from unnest(p_items) with ordinality as a (item_id, at)
        left join livewell_private.item as i on i.id = a.item_id
        left join livewell_private.live_jobs as j on j.dedupe_key = 'refresh/' || i.data_type || '/' || i.key
    ),
    held as materialized (
        select t.name, h.holder, h.until
        from livewell_private.known_types as t
        cross join lateral livewell.refresh_obstacle(t.name, t.endpoint, p_now) as h
        where t.name = any (array(select distinct a.data_type from asked as a where a.state = 'pending'))
    )
    select a.item_id, a.version, a.fetched_at, p_now - a.fetched_at, a.expires_at - p_now,
        case when a.is_there then a.state is not null and w.waiting_for is null end, w.waiting_for,
        case when isfinite(w.until) then w.until end, case when a.is_there then coalesce(a.last_outcome = 'gone', false) end
    from asked as a
    left join held as h on h.name = a.data_type and a.state = 'pending'
    left join lateral (
        select h.holder as waiting_for, h.until where h.holder is not null
        union all
        select 'others', null where h.holder is null and a.state = 'pending' and a.waiting_for = 'serial'
        union all
        select case when a.failures > 0 then 'provider' else 'budget' end, a.job_due_at
        where h.holder is null and a.state = 'pending' and a.waiting_for is distinct from 'serial' and a.job_due_at > p_now
        union all
        select d.waiting_for, case when a.decision in ('gate_closed', 'refresh_failed') then a.due_at end
        from (
            select case a.decision
                when 'gate_closed' then 'gate'
                when 'quota_closed' then 'budget'
                when 'not_worth' then 'budget'
                when 'endpoint_closed' then 'provider'
                when 'refresh_failed' then 'provider'
                when 'waiting' then 'others'
                when 'queue_full' then 'others'
            end as waiting_for
        ) as d
        where a.state is null and d.waiting_for is not null and (a.expires_at > p_now) is not true
    ) as w on true
    order by a.at;
end $$;
