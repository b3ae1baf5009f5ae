-- Opens sessions, a batch in one call, each of a user; those of a gateway live as long as it renews itself. Answers by
-- position: opened (new, or anew after it was gone: it looks at nothing), open (it was, and keeps what it looks at), elsewhere (it is
-- open at another gateway, or at none, and stays there: a client that came here takes it with `resume`), taken
-- (it is another user's), too_many, or busy: somebody else has it, or what it looked at, in an open transaction.
-- for: service
create or replace function livewell.open_sessions(
    p_ids uuid[], p_users text[], p_gateway text default null, p_now timestamptz default clock_timestamp()
) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_most constant integer := livewell.setting_integer('presence.sessions_per_user');
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_locked uuid[];
    v_busy uuid[];
    v_gone uuid[];
    v_added record;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_users(p_ids, p_users);
    if p_gateway is not null then
        perform livewell_private.lock_gateway(p_gateway, p_now);
    end if;
    select l.locked, l.busy into v_locked, v_busy from livewell_private.lock_sessions(p_ids, p_now) as l;
    select array_agg(s.id) into v_gone
    from livewell_private.session as s left join livewell_private.gateway as g on g.name = s.gateway
    where s.id = any (v_locked) and (
        case when s.gateway is null then s.last_seen <= v_gone_at else g.last_seen + g.gone_after <= p_now end
        or exists (
            select from livewell_private.session_leaving as l
            where l.session_id = s.id and (l.gateway is null or l.gateway = s.gateway)
        )
    );
    if v_gone is not null then
        delete from livewell_private.session_leaving as l where l.session_id = any (v_gone);
        perform livewell_private.drop_sessions(v_gone, p_now);
        -- What of it cannot be undone yet keeps it from being opened anew.
        v_busy := v_busy || array(select s.id from livewell_private.session as s where s.id = any (v_gone));
    end if;
    update livewell_private.session as s set last_seen = greatest(s.last_seen, p_now)
    from unnest(p_ids, p_users, livewell_private.are_among(p_ids, v_locked)) as a (id, user_id, is_locked)
    where p_gateway is null and s.gateway is null and s.id = a.id and s.user_id = a.user_id and a.is_locked and s.id <> all (v_busy);
    select n.opened, n.busy into v_added from livewell_private.add_sessions(p_ids, p_users, p_gateway, v_most, p_now) as n;
    return coalesce((
        select array_agg(
            case
                when a.id = any (v_added.busy) then 'busy'
                when s.id is null then 'too_many'
                when s.user_id <> a.user_id then 'taken'
                when a.id = any (v_busy) then 'busy'
                when s.gateway is distinct from p_gateway then 'elsewhere'
                when a.is_new then 'opened'
                else 'open'
            end
            order by a.position
        )
        from unnest(p_ids, p_users, livewell_private.are_among(p_ids, v_added.opened)) with ordinality as a (id, user_id, is_new, position)
        left join livewell_private.session as s on s.id = a.id
    ), '{}');
end $$;
