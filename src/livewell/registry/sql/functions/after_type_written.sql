-- However a type is written, the kind of its refreshes is known, in its group and with as many of
-- them to a request as the type allows, and completed ones are kept briefly: in the same transaction. Their lane is open before anybody
-- watches, or who does first would hold it. Workers are told; when another may read it now, so is whoever shows it.
-- for: internal
create or replace function livewell_private.after_type_written() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.declare_kinds(jsonb_build_array(jsonb_build_object(
        'kind', 'refresh.' || new.name, 'queue_group', new.queue_group, 'description', format('Refresh %s', new.name)
    )), session_user, new.updated_at);
    update livewell_private.job_kind as k
    set queue_group = new.queue_group, jobs_per_request = new.keys_per_request, kept_briefly = true, updated_at = new.updated_at
    where k.kind = 'refresh.' || new.name
        and (k.queue_group, k.jobs_per_request, k.kept_briefly) <> (new.queue_group, new.keys_per_request, true);
    perform livewell_private.open_lane_for('refresh.' || new.name, new.endpoint);
    perform livewell_private.notify('livewell_types', new.name);
    if tg_op = 'UPDATE' and (old.read_rule, old.read_claim, old.read_equals, old.read_function, old.read_claims, old.table_name)
        is distinct from (new.read_rule, new.read_claim, new.read_equals, new.read_function, new.read_claims, new.table_name)
    then
        perform livewell_private.notify('livewell_rights', jsonb_build_object('type', new.name)::text);
    end if;
    return null;
end $$;
