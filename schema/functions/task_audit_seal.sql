-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_audit_seal(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_batch constant integer := 10000;
    v_seal record;
begin
    perform livewell.require_primary();
    select s.outcome, s.number, s.entries, s.hash into v_seal from livewell.seal_audit(v_batch, p_now) as s;
    return jsonb_build_object(
        'sealed', v_seal.entries,
        'seal', case when v_seal.outcome = 'sealed' then v_seal.number end,
        'hash', case when v_seal.outcome = 'sealed' then encode(v_seal.hash, 'hex') end,
        'again_in', case
            when v_seal.entries = v_batch then interval '0' else livewell.setting_interval('audit.seal_interval')
        end
    );
end $function$;

grant execute on function livewell.task_audit_seal(timestamp with time zone) to livewell_service;
