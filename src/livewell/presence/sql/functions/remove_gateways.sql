-- Removes gateways that were given up and have no session left; answers with how many. Who is opening a session at one holds
-- its row, and is not waited for.
-- for: internal
create or replace function livewell_private.remove_gateways(p_gateways text[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_names text[] := array(
        select g.name from livewell_private.gateway as g where g.name = any (p_gateways) and g.last_seen = '-infinity' for update skip locked
    );
    v_removed integer;
begin
    delete from livewell_private.gateway as g
    where g.name = any (v_names) and not exists (select from livewell_private.session as s where s.gateway = g.name);
    get diagnostics v_removed = row_count;
    return v_removed;
end $$;
