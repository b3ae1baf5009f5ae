-- Everything that is wrong with types as a declaration would make them: with their own fields, with an endpoint that is not there,
-- and what checking them would find. Of a disabled type only what keeps it from being written.
-- for: owner
create or replace function livewell.findings_on_asked(p_declared jsonb, p_now timestamptz default clock_timestamp())
returns table (data_type text, severity text, problem text, message text, fix text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform livewell_private.require_primary();
    return query
    select (a.type).name, f.*
    from livewell_private.types_as_asked(p_declared, p_now) as a
    cross join lateral (
        select e.* from livewell_private.endpoint_finding((a.type).endpoint) as e where livewell_private.type_problem(a.type) is null
        union all
        select f.* from livewell_private.findings_on_type(a.type, p_now) as f where (a.type).enabled or f.problem in ('invalid', 'cron')
    ) as f
    order by 1, f.severity, f.problem, f.message;
end $$;
