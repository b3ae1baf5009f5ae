-- Entries, newest first, by any of the things one asks for; a page goes on before the last id of the page above.
-- Planned anew for each call: which index helps depends on what is asked.
-- for: service
create or replace function livewell.list_audit(
    p_event text default null, p_actor text default null, p_subject text default null, p_job_id bigint default null,
    p_table_name text default null, p_record_id text default null,
    p_since timestamptz default null, p_until timestamptz default null,
    p_before bigint default null, p_limit integer default 100
) returns table (
    id bigint, at timestamptz, xid xid8, event text, table_name text, record_id text, operation text, old jsonb, new jsonb,
    reason text, actor text, login text, subject text, job_id bigint, detail jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    return query
    select e.id, e.at, e.xid, e.event, e.table_name, e.record_id, e.operation, e.old, e.new, e.reason, e.actor, e.login, e.subject,
        e.job_id, e.detail
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
