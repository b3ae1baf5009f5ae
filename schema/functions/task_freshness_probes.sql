-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_freshness_probes(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_credit record;
    v_drawn integer := 0;
begin
    perform livewell.require_primary();
    perform livewell.credit_probes(p_now);
    for v_credit in
        select c.provider, c.credit from livewell.probe_credit as c
        join livewell.provider as p on p.name = c.provider and p.state = 'active'
        where c.credit > 0 and livewell.quota_open(c.provider, 0, p_now)
        order by c.provider
    loop
        begin
            v_drawn := v_drawn + livewell.draw_probes(v_credit.provider, v_credit.credit, p_now);
        exception when others then
            perform livewell.warn('freshness.probes_failed', v_credit.provider, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end loop;
    return jsonb_build_object('drawn', v_drawn);
end $function$;
