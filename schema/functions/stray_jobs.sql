-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.stray_jobs()
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (select count(*) from livewell.job_done_default) + (select count(*) from livewell.job_failed_default)
        + (select count(*) from livewell.job_attempt_default) + (select count(*) from livewell.job_brief_default);
end $function$;

grant execute on function livewell.stray_jobs() to livewell_service;
