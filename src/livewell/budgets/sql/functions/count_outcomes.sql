-- Tells the breakers how calls ended. Failures add up while a breaker is closed, and too many within its window open it; the
-- calls let through after its pause are its trials: one that fails opens it again for longer, enough that pass close it. What was
-- sent before it opened says nothing new. Every change is recorded. The caller holds the locks.
-- for: internal
create or replace function livewell_private.count_outcomes(
    p_endpoints text[], p_succeeded boolean[], p_started timestamptz[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_changes jsonb;
begin
    with seen as (
        select u.name, u.breaker as old_breaker, u.breaker_openings, u.breaker_passed, e.breaker_failures, e.breaker_trials,
            count(*) filter (where not o.succeeded) as failed,
            count(*) filter (where not o.succeeded and o.started >= u.breaker_until) as trials_failed,
            count(*) filter (where o.succeeded and o.started >= u.breaker_until) as trials_passed,
            least(interval '1 second' * extract(epoch from e.breaker_cooldown_max),
                e.breaker_cooldown * power(2, least(u.breaker_openings, 20))) * (0.9 + random() / 5) as pause,
            f.ago, case when f.ago = 0 then u.failures[1:20] else u.failures[f.ago + 1:21] || array_fill(0, array[f.ago - 1]) end as older,
            case when f.ago = 0 then u.failures[21] else 0 end as newest, f.slot
        from livewell_private.limit_use as u
        join livewell_private.endpoint as e on e.name = u.name and e.breaker_failures is not null
        join unnest(p_endpoints, p_succeeded, p_started) as o (name, succeeded, started) on o.name = u.name
        cross join lateral (
            select floor(extract(epoch from p_now) * 20 / extract(epoch from e.breaker_window))::bigint as slot
        ) as s
        cross join lateral (
            select greatest(s.slot, u.failure_slot) as slot, least(21, greatest(0, s.slot - u.failure_slot))::integer as ago
        ) as f
        group by u.name, e.name, f.slot, f.ago
    ),
    decided as (
        select s.*, (select sum(x) from unnest(s.older) as x) + s.newest + s.failed as in_window, case
            when s.old_breaker = 'closed'
                and (select sum(x) from unnest(s.older) as x) + s.newest + s.failed >= s.breaker_failures then 'open'
            when s.old_breaker <> 'closed' and s.trials_failed > 0 then 'open'
            when s.old_breaker <> 'closed' and s.breaker_passed + s.trials_passed >= s.breaker_trials then 'closed'
            else s.old_breaker
        end as breaker
        from seen as s
    ),
    changed as (
        update livewell_private.limit_use as u
        set breaker = d.breaker,
            breaker_openings = case when t.opens then u.breaker_openings + 1 when t.closes then 0 else u.breaker_openings end,
            breaker_until = case when t.opens then p_now + d.pause when t.closes then null else u.breaker_until end,
            next_allowed_at = case when t.opens then p_now + d.pause else u.next_allowed_at end,
            breaker_passed = case when t.opens or t.closes then 0 else u.breaker_passed + d.trials_passed end,
            failure_slot = d.slot,
            failures = case when t.opens or t.closes then array_fill(0, array[21])
                else d.older || (d.newest + case when d.old_breaker = 'closed' then d.failed else 0 end)::integer end
        from decided as d
        cross join lateral (
            select d.breaker = 'open' and (d.old_breaker <> 'open' or d.trials_failed > 0) as opens,
                d.breaker = 'closed' and d.old_breaker <> 'closed' as closes
        ) as t
        where u.name = d.name
        returning u.name, d.old_breaker, d.breaker, d.in_window, t.opens or t.closes as changed, u.breaker_until
    )
    select jsonb_agg(jsonb_build_object(
        'event', case c.breaker when 'open' then 'breaker_opened' else 'breaker_closed' end, 'table_name', 'endpoint',
        'record_id', c.name, 'operation', 'update', 'old', jsonb_build_object('breaker', c.old_breaker),
        'new', jsonb_build_object('breaker', c.breaker, 'until', c.breaker_until),
        'reason', case c.breaker when 'open' then format('%s failures', c.in_window) else 'its trials passed' end, 'actor', 'livewell'
    ))
    into v_changes
    from changed as c where c.changed;
    if v_changes is not null then
        perform livewell.audit_write(v_changes, p_now);
    end if;
end $$;
