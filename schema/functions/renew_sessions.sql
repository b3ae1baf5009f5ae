-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.renew_sessions(p_ids uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_locked record;
begin
    perform livewell.require_primary();
    select l.users, l.busy into v_locked from livewell.lock_live_sessions(p_ids, v_gone_at, p_now) as l;
    update livewell.session as s set last_seen = greatest(s.last_seen, p_now)
    from unnest(p_ids, v_locked.users) as a (id, user_id)
    where s.id = a.id and a.user_id is not null and s.gateway is null;
    return coalesce((
        select array_agg(case when a.id = any (v_locked.busy) then 'busy' when a.user_id is null then 'gone' else 'renewed' end order by a.position)
        from unnest(p_ids, v_locked.users) with ordinality as a (id, user_id, position)
    ), '{}');
end $function$;

grant execute on function livewell.renew_sessions(uuid[],timestamp with time zone) to livewell_service;
