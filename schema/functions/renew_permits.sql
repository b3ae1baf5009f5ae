-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.renew_permits(p_holder text, p_blocks uuid[], p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    return query
    update livewell.permit_block as b set lease_until = p_now + livewell.setting_interval('budgets.permit_lease')
    where b.id = any (p_blocks) and b.holder = p_holder and b.lease_until > p_now
    returning b.id;
end $function$;

grant execute on function livewell.renew_permits(text,uuid[],timestamp with time zone) to livewell_service;
