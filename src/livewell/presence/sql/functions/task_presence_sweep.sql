-- Undoes sessions that were not renewed in time, the longest gone first, so many a run; asks to be run again at once while
-- there are more.
-- for: internal
create or replace function livewell.task_presence_sweep(p_now timestamptz) returns jsonb
language plpgsql security definer
set search_path = '' set enable_seqscan = off set jit = off as $$
declare
    v_most constant integer := 5000;
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_gateway text;
    v_swept integer;
    v_gateways integer := 0;
begin
    v_swept := livewell.drop_sessions(array(
        select s.id from livewell.session as s
        where s.gateway is null and s.last_seen <= v_gone_at
        order by s.last_seen limit v_most for update skip locked
    ), p_now);
    for v_gateway in select g.name from livewell.gateway as g where g.last_seen <= v_gone_at order by g.last_seen loop
        exit when v_swept >= v_most;
        v_swept := v_swept + livewell.sweep_gateway(v_gateway, v_gone_at, v_most - v_swept, p_now);
        v_gateways := v_gateways + 1;
    end loop;
    return jsonb_build_object(
        'swept', v_swept, 'gateways_gone', v_gateways, 'again_in', case when v_swept >= v_most then '0 seconds' end
    );
end $$;
