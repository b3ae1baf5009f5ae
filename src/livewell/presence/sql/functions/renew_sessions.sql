-- Keeps sessions alive that have no gateway to do it; answers by position: renewed, gone, or busy: somebody else has it in an open
-- transaction, and nobody undoes it meanwhile. A session that was not renewed
-- in time stays gone, whether or not the sweeper has come to it: nothing of it comes back.
-- for: service
create or replace function livewell.renew_sessions(p_ids uuid[], p_now timestamptz default clock_timestamp()) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_locked record;
begin
    perform livewell_private.require_primary();
    select l.users, l.busy into v_locked from livewell_private.lock_live_sessions(p_ids, v_gone_at, p_now, null) as l;
    update livewell_private.session as s set last_seen = greatest(s.last_seen, p_now)
    from unnest(p_ids, v_locked.users) as a (id, user_id)
    where s.id = a.id and a.user_id is not null and s.gateway is null;
    return coalesce((
        select array_agg(case when a.id = any (v_locked.busy) then 'busy' when a.user_id is null then 'gone' else 'renewed' end order by a.position)
        from unnest(p_ids, v_locked.users) with ordinality as a (id, user_id, position)
    ), '{}');
end $$;
