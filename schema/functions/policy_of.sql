-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.policy_of(p_provider livewell.provider)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    return coalesce(
        (select r.policy from livewell.refresh_policy as r where r.provider = p_provider.name),
        case when p_provider.quota_bytes is null then 'viewers' else 'value' end
    );
end $function$;
