-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_endpoint(p_endpoint text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_near text;
begin
    if exists (select from livewell.endpoint as e where e.name = p_endpoint) then
        return;
    end if;
    select e.name into v_near from livewell.endpoint as e
    where e.provider = split_part(p_endpoint, '/', 1) or e.name ilike '%' || nullif(split_part(p_endpoint, '/', 2), '') || '%'
    order by e.name limit 1;
    raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(p_endpoint, '(none)')),
        hint = case when v_near is null then 'declare it in livewell.toml, then: livewell apply'
            else format('did you mean %s? a new one is declared in livewell.toml', v_near) end;
end $function$;
