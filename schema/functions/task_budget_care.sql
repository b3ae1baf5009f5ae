-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_budget_care(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_permits integer;
    v_hours integer;
begin
    perform livewell.require_primary();
    v_permits := livewell.expire_permits(p_now);
    delete from livewell.quota_hour as h
    using livewell.provider as p
    where p.name = h.provider and h.hour < p_now - greatest(
        livewell.setting_interval('quota.ledger_retention'), p.quota_window + interval '1 day'
    );
    get diagnostics v_hours = row_count;
    return jsonb_build_object('permits_expired', v_permits, 'ledger_hours_dropped', v_hours);
end $function$;

grant execute on function livewell.task_budget_care(timestamp with time zone) to livewell_service;
