-- Undoes sessions that were closed while somebody held them, and those that were not renewed in time, the longest gone first, so many a run; asks to be run again at once while
-- there are more. All of them are taken first and then dropped in one go: dropping some, then others, would take their items
-- out of order. One that was closed by a gateway and is another's by now stays.
-- for: internal
create or replace function livewell_private.task_presence_sweep(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_most constant integer := 5000;
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_gateways constant text[] := array(
        select g.name from livewell_private.gateway as g where g.last_seen + g.gone_after <= p_now order by g.last_seen + g.gone_after, g.name
    );
    v_gateway text;
    v_free uuid[];
    v_leaving uuid[];
    v_ids uuid[];
    v_swept integer;
begin
    v_free := array(
        select s.id from livewell_private.session as s where s.id in (select l.session_id from livewell_private.session_leaving as l) for update skip locked
    );
    v_leaving := array(
        select s.id from livewell_private.session as s
        where s.id = any (v_free) and exists (
            select from livewell_private.session_leaving as l where l.session_id = s.id and (l.gateway is null or l.gateway = s.gateway)
        )
    );
    delete from livewell_private.session_leaving as l
    where l.session_id = any (v_leaving) or not exists (
        select from livewell_private.session as s where s.id = l.session_id and (l.gateway is null or l.gateway = s.gateway)
    );
    v_ids := array(
        select s.id from livewell_private.session as s
        where s.gateway is null and s.last_seen <= v_gone_at and s.id <> all (v_leaving)
        order by s.last_seen limit v_most for update skip locked
    );
    foreach v_gateway in array v_gateways loop
        exit when cardinality(v_ids) >= v_most;
        v_ids := v_ids || livewell_private.give_up_gateway(v_gateway, v_most - cardinality(v_ids), p_now);
    end loop;
    v_swept := livewell_private.drop_sessions(v_leaving || v_ids, p_now);
    return jsonb_build_object(
        'swept', v_swept, 'gateways_gone', livewell_private.remove_gateways(v_gateways),
        'again_in', case when v_swept >= v_most then '0 seconds' end
    );
end $$;
