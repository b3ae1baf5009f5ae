-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.after_type_written()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.declare_kinds(jsonb_build_array(jsonb_build_object(
        'kind', 'refresh.' || new.name, 'queue_group', new.queue_group, 'description', format('Refresh %s', new.name)
    )), session_user, new.updated_at);
    update livewell.job_kind as k
    set queue_group = new.queue_group, jobs_per_request = new.keys_per_request, kept_briefly = true, updated_at = new.updated_at
    where k.kind = 'refresh.' || new.name
        and (k.queue_group, k.jobs_per_request, k.kept_briefly) <> (new.queue_group, new.keys_per_request, true);
    perform livewell.open_lane_for('refresh.' || new.name, new.endpoint);
    perform livewell.notify('livewell_types', new.name);
    return null;
end $function$;
