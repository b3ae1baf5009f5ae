-- Entries, newest first, by any of the things one asks for; a page goes on before the last id of the page above.
-- Planned anew for each call: which index helps depends on what is asked.
-- for: service
create or replace function livewell.list_audit(
    p_event text default null, p_actor text default null, p_subject text default null, p_job_id bigint default null,
    p_table_name text default null, p_record_id text default null,
    p_since timestamptz default null, p_until timestamptz default null,
    p_before bigint default null, p_limit integer default 100
) returns setof livewell_private.audit_entry
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select e.*
    from livewell_private.audit_entry e
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
$$;
