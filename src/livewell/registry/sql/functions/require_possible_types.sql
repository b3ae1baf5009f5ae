-- Refuses types that can be written in no case: by their own fields, or by an endpoint that is not there.
-- for: internal
create or replace function livewell.require_possible_types(p_types livewell.data_type[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.refuse_type(t.name, livewell.type_problem(t)) from unnest(p_types) as t where livewell.type_problem(t) is not null;
    perform livewell.refuse_type(t.name, e.message, e.fix)
    from unnest(p_types) as t cross join lateral livewell.endpoint_finding(t.endpoint) as e;
end $$;
