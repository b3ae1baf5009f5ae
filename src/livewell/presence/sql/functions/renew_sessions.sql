-- Keeps sessions alive that have no gateway to do it; answers by position: renewed, or gone. A session that was not renewed
-- in time stays gone, whether or not the sweeper has come to it: nothing of it comes back.
-- for: service
create or replace function livewell.renew_sessions(p_ids uuid[], p_now timestamptz default clock_timestamp()) returns text[]
language plpgsql security definer
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
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
end $$;
