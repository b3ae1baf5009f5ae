-- Locks sessions by id, so that whatever else happens to them comes before or after as a whole; answers with their users by
-- position, null where there is no session, none that was seen after a time, or, where a gateway is named, none of its own. Who comes
-- later than the lock is not held, and so not answered; those that somebody else has for longer than a moment are not waited for: they
-- are named as busy. Two lists are joined here and no index is: a loop over both would cost their product.
-- for: internal
create or replace function livewell_private.lock_live_sessions(
    p_sessions uuid[], p_gone_at timestamptz, p_now timestamptz, p_gateway text, out users text[], out busy uuid[]
)
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_nestloop = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    v_gone_gateways constant text[] := array(
        select g.name from livewell_private.gateway as g where p_gone_at is not null and g.last_seen + g.gone_after <= p_now
    );
    v_ids uuid[];
    v_users text[];
begin
    begin
        select array_agg(s.id), array_agg(s.user_id) into v_ids, v_users
        from (
            select s.id, s.user_id, s.gateway, s.last_seen from livewell_private.session as s
            where s.id = any (p_sessions) order by s.id for no key update
        ) as s
        where (p_gateway is null or s.gateway = p_gateway) and (
            p_gone_at is null or case when s.gateway is null then s.last_seen > p_gone_at else s.gateway <> all (v_gone_gateways) end
        );
    exception when lock_not_available then
        select f.busy into busy from livewell_private.lock_free_sessions(p_sessions, p_now) as f;
        select h.users into users from livewell_private.lock_live_sessions(array(
            select case when a.id <> all (lock_live_sessions.busy) then a.id end from unnest(p_sessions) with ordinality as a (id, position) order by a.position
        ), p_gone_at, p_now, p_gateway) as h;
        return;
    end;
    users := array(
        select u.user_id from unnest(p_sessions) with ordinality as a (id, position)
        left join unnest(v_ids, v_users) as u (id, user_id) on u.id = a.id
        order by a.position
    );
    busy := '{}';
end $$;
