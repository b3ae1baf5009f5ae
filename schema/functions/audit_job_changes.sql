-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_job_changes(p_events text[], p_ids bigint[], p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if cardinality(p_ids) > 0 then
        perform livewell.audit_write((
            select jsonb_agg(jsonb_build_object(
                'event', coalesce(p_events[i.ordinality], p_events[1]), 'table_name', 'job', 'record_id', i.id::text,
                'operation', 'update', 'reason', p_reason, 'actor', p_actor, 'job_id', i.id
            ))
            from unnest(p_ids) with ordinality as i (id)
        ), p_now);
    end if;
end $function$;
