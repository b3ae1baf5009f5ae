-- Refuses what a data type cannot be; the detail names the type, for who knows the line it is on.
-- for: internal
create or replace function livewell_private.refuse_type(p_name text, p_problem text, p_fix text default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'LWR03', message = format('type %s: %s', p_name, p_problem),
        detail = format('type %s', p_name), hint = coalesce(p_fix, '');
end $$;
