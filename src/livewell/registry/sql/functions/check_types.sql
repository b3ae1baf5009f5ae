-- Looks for everything that keeps types from being kept fresh, with its fix, and really judges a few of their rows. Nothing is
-- changed; no row is a type without a finding. What is wrong with a disabled type is a warning, unless it can be written in no case.
-- for: service
create or replace function livewell.check_types(p_names text[] default null, p_now timestamptz default clock_timestamp())
returns table (data_type text, severity text, problem text, message text, fix text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(n.name) from unnest(p_names) as n (name);
    return query
    select t.name, case when t.enabled or f.problem in ('invalid', 'cron') then f.severity else 'warning' end, f.problem, f.message, f.fix
    from livewell_private.data_type as t
    cross join lateral livewell_private.findings_on_type(t, p_now) as f
    where p_names is null or t.name = any (p_names)
    order by 1, 2, 3, 4;
end $$;
