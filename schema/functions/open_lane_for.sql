-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.open_lane_for(p_kind text, p_endpoint text)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_endpoint is not null then
        perform livewell.require_endpoint(p_endpoint);
    end if;
    insert into livewell.job_lane (kind, endpoint) values (p_kind, p_endpoint) on conflict do nothing;
    return (
        select l.id from livewell.job_lane as l where l.kind = p_kind and l.endpoint is not distinct from p_endpoint
    );
end $function$;
