-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.list_audit(p_event text DEFAULT NULL::text, p_actor text DEFAULT NULL::text, p_subject text DEFAULT NULL::text, p_job_id bigint DEFAULT NULL::bigint, p_table_name text DEFAULT NULL::text, p_record_id text DEFAULT NULL::text, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone, p_until timestamp with time zone DEFAULT NULL::timestamp with time zone, p_before bigint DEFAULT NULL::bigint, p_limit integer DEFAULT 100)
 RETURNS SETOF livewell.audit_entry
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
    return query
    select e.*
    from livewell.audit_entry e
    where (p_event is null or e.event = p_event)
        and (p_actor is null or e.actor = p_actor)
        and (p_subject is null or e.subject = p_subject)
        and (p_job_id is null or e.job_id = p_job_id)
        and (p_table_name is null or e.table_name = p_table_name)
        and (p_record_id is null or e.record_id = p_record_id)
        and (p_since is null or e.at >= p_since)
        and (p_until is null or e.at < p_until)
        and (p_before is null or e.id < p_before)
    order by e.id desc
    limit p_limit;
end
$function$;

grant execute on function livewell.list_audit(text,text,text,bigint,text,text,timestamp with time zone,timestamp with time zone,bigint,integer) to livewell_service;
