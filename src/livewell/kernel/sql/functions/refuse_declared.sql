-- Refuses what somebody declared; the detail names the thing, for who knows the line it is on.
-- for: internal
create or replace function livewell_private.refuse_declared(
    p_errcode text, p_thing text, p_name text, p_problem text, p_fix text default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = p_errcode, message = format('%s %s: %s', p_thing, p_name, p_problem),
        detail = format('%s %s', p_thing, p_name), hint = coalesce(p_fix, '');
end $$;
