-- Makes the tasks of a program known; what is there already stays as it was tuned. Answers with the new ones.
-- for: service
create or replace function livewell.declare_tasks(
    p_declared jsonb, p_actor text default session_user, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    -- Two programs that start at once declare the same tasks: the second waits, and finds them there.
    perform livewell_private.take_lock('tasks');
    return query
    select distinct a.name
    from livewell.apply_tasks(
        coalesce(
            (
                select jsonb_object_agg(d.key, d.value) from jsonb_each(p_declared) as d
                where not exists (select from livewell_private.task as t where t.name = d.key)
            ), '{}'
        ), false, p_actor, p_now
    ) as a;
end $$;
