-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_presence_sweep(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_most constant integer := 5000;
    v_gone_at constant timestamptz := p_now - livewell.setting_interval('presence.gone_after');
    v_gateways constant text[] := array(
        select g.name from livewell.gateway as g where g.last_seen <= v_gone_at order by g.last_seen, g.name
    );
    v_gateway text;
    v_leaving uuid[];
    v_ids uuid[];
    v_swept integer;
begin
    v_leaving := array(
        select s.id from livewell.session as s where s.id in (select l.session_id from livewell.session_leaving as l) for update skip locked
    );
    delete from livewell.session_leaving as l
    where l.session_id = any (v_leaving) or not exists (select from livewell.session as s where s.id = l.session_id);
    v_ids := array(
        select s.id from livewell.session as s
        where s.gateway is null and s.last_seen <= v_gone_at and s.id <> all (v_leaving)
        order by s.last_seen limit v_most for update skip locked
    );
    foreach v_gateway in array v_gateways loop
        exit when cardinality(v_ids) >= v_most;
        v_ids := v_ids || livewell.give_up_gateway(v_gateway, v_gone_at, v_most - cardinality(v_ids));
    end loop;
    v_swept := livewell.drop_sessions(v_leaving || v_ids, p_now);
    return jsonb_build_object(
        'swept', v_swept, 'gateways_gone', livewell.remove_gateways(v_gateways),
        'again_in', case when v_swept >= v_most then '0 seconds' end
    );
end $function$;
