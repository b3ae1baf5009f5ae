-- Records what a person or program did to jobs, one entry each; one event for all, or one event per job.
-- for: internal
create or replace function livewell_private.audit_job_changes(
    p_events text[], p_ids bigint[], p_reason text, p_actor text, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
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
end $$;
