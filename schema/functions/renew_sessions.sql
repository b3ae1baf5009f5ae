-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.renew_sessions(p_ids uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS text[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
begin
    perform livewell.require_primary();
    perform from livewell.session as s where s.id = any (p_ids) order by s.id for no key update;
    update livewell.session as s set last_seen = greatest(s.last_seen, p_now)
    where s.id = any (p_ids) and s.gateway is null and s.last_seen > v_gone_at;
    return coalesce((
        select array_agg(case when s.id is null then 'gone' else 'renewed' end order by a.position)
        from unnest(p_ids) with ordinality as a (id, position)
        left join (
            select s.id from livewell.session as s left join livewell.gateway as g on g.name = s.gateway
            where s.id = any (p_ids) and coalesce(g.last_seen, s.last_seen) > v_gone_at
        ) as s on s.id = a.id
    ), '{}');
end $function$;

grant execute on function livewell.renew_sessions(uuid[],timestamp with time zone) to livewell_service;
