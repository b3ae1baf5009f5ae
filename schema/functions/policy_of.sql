-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.policy_of(p_provider livewell.provider)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return coalesce(p_provider.policy, case when p_provider.quota_bytes is null then 'viewers' else 'value' end);
end $function$;
