-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_presence_sweep(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
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
end $function$;
