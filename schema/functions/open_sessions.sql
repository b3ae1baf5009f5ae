-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.open_sessions(p_ids uuid[], p_users text[], p_gateway text DEFAULT NULL::text, p_now timestamp with time zone DEFAULT clock_timestamp())
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
    v_most constant integer := livewell.setting_integer('presence.sessions_per_user');
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_there uuid[];
    v_busy uuid[];
    v_gone uuid[];
    v_added record;
begin
    perform livewell.require_primary();
    perform livewell.require_users(p_ids, p_users);
    if p_gateway is not null then
        perform livewell.lock_gateway(p_gateway, p_now);
    end if;
    v_there := array(select s.id from livewell.session as s where s.id = any (p_ids));
    v_busy := livewell.lock_sessions(v_there, p_now);
    select array_agg(s.id) into v_gone
    from livewell.session as s left join livewell.gateway as g on g.name = s.gateway
    where s.id = any (v_there) and s.id <> all (v_busy) and (
        coalesce(g.last_seen, s.last_seen) <= v_gone_at
        or exists (select from livewell.session_leaving as l where l.session_id = s.id)
    );
    if v_gone is not null then
        delete from livewell.session_leaving as l where l.session_id = any (v_gone);
        perform livewell.drop_sessions(v_gone, p_now);
        -- What of it cannot be undone yet keeps it from being opened anew.
        v_busy := v_busy || array(select s.id from livewell.session as s where s.id = any (v_gone));
    end if;
    update livewell.session as s set gateway = p_gateway, last_seen = greatest(s.last_seen, p_now)
    from unnest(p_ids, p_users, livewell.are_among(p_ids, v_there)) as a (id, user_id, is_there)
    where s.id = a.id and s.user_id = a.user_id and a.is_there and s.id <> all (v_busy);
    select n.opened, n.busy into v_added from livewell.add_sessions(p_ids, p_users, p_gateway, v_most, p_now) as n;
    return coalesce((
        select array_agg(
            case
                when a.id = any (v_added.busy) then 'busy'
                when s.id is null then 'too_many'
                when s.user_id <> a.user_id then 'taken'
                when a.id = any (v_busy) then 'busy'
                when a.is_new then 'opened'
                else 'open'
            end
            order by a.position
        )
        from unnest(p_ids, p_users, livewell.are_among(p_ids, v_added.opened)) with ordinality as a (id, user_id, is_new, position)
        left join livewell.session as s on s.id = a.id
    ), '{}');
end $function$;

grant execute on function livewell.open_sessions(uuid[],text[],text,timestamp with time zone) to livewell_service;
