-- Adds sessions that are not there, as many of a user as allowed, and answers with those it added. One that somebody is adding in a
-- transaction that stays open is not waited for: it is found by halving, and named as busy.
-- for: internal
create or replace function livewell_private.add_sessions(
    p_ids uuid[], p_users text[], p_gateway text, p_most integer, p_now timestamptz, p_patience integer default 250,
    out opened uuid[], out busy uuid[]
)
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_half constant integer := cardinality(p_ids) / 2;
    v_first record;
    v_second record;
begin
    if p_patience < 250 then
        perform set_config('lock_timeout', p_patience::text, true);
    end if;
    busy := '{}';
    begin
        with asked as (
            select distinct on (a.id) a.id, a.user_id, a.position
            from unnest(p_ids, p_users) with ordinality as a (id, user_id, position)
            where not exists (select from livewell_private.session as s where s.id = a.id)
            order by a.id, a.position
        ),
        ranked as (
            select a.id, a.user_id, row_number() over (partition by a.user_id order by a.position) as rank from asked as a
        ),
        added as (
            insert into livewell_private.session (id, user_id, gateway, last_seen, created_at)
            select r.id, r.user_id, p_gateway, p_now, p_now
            from ranked as r
            where r.rank <= p_most - (select count(*) from livewell_private.session as s where s.user_id = r.user_id)
            order by r.id
            on conflict (id) do nothing
            returning id
        )
        select array_agg(n.id) into opened from added as n;
        return;
    exception when lock_not_available then
        if v_half = 0 then
            busy := p_ids;
            perform livewell_private.note_locked_rows('presence.session_held', '', 'livewell_private.session', p_ids::text[], p_ids::text[], null, p_now);
            return;
        end if;
    end;
    -- Half as patient each time, so that however many are held, all of them together cost a few moments.
    select n.* into v_first
    from livewell_private.add_sessions(p_ids[:v_half], p_users[:v_half], p_gateway, p_most, p_now, greatest(1, p_patience / 2)) as n;
    select n.* into v_second
    from livewell_private.add_sessions(p_ids[v_half + 1:], p_users[v_half + 1:], p_gateway, p_most, p_now, greatest(1, p_patience / 2)) as n;
    opened := v_first.opened || v_second.opened;
    busy := v_first.busy || v_second.busy;
end $$;
