-- Refuses what is no batch of entries; a mistyped key would otherwise be evidence lost unseen.
-- for: internal
create or replace function livewell_private.check_audit_entries(p_entries jsonb) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
    v_known constant text[] := array[
        'event', 'table_name', 'record_id', 'operation', 'old', 'new', 'reason', 'actor', 'subject', 'job_id', 'detail'];
    v_problem text := 'the batch is not a JSON array';
begin
    if jsonb_typeof(p_entries) = 'array' then
        select seen.problem into v_problem
        from jsonb_array_elements(p_entries) as e (entry)
        cross join lateral (
            select case
                when jsonb_typeof(e.entry) <> 'object' then 'an audit entry is not a JSON object'
                when e.entry - v_known <> '{}' then
                    format('an audit entry has no %I', (select min(k) from jsonb_object_keys(e.entry - v_known) k))
                when coalesce(e.entry ->> 'event', '') !~ '^[a-z][a-z0-9_]*$' then 'an audit entry''s event is not a word in snake_case'
                when e.entry ->> 'operation' !~ '^[a-z][a-z0-9_]*$' then 'an audit entry''s operation is not a word in snake_case'
                when e.entry ->> 'job_id' !~ '^\d{1,18}$' then 'an audit entry''s job_id is not a job''s number'
                when greatest(
                    length(e.entry ->> 'event'), length(e.entry ->> 'table_name'), length(e.entry ->> 'record_id'),
                    length(e.entry ->> 'actor'), length(e.entry ->> 'subject')
                ) > 600 then 'an audit entry''s event, table_name, record_id, actor or subject has more than 600 characters'
                when pg_column_size(e.entry) >= 16777216 then 'an audit entry is larger than 16 MiB'
            end as problem
        ) seen
        where seen.problem is not null
        limit 1;
    end if;
    if v_problem is not null then
        raise exception using
            errcode = 'LWA01', message = v_problem, hint = 'an audit entry may have ' || array_to_string(v_known, ', ');
    end if;
end
$$;
