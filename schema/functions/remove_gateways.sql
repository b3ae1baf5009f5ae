-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.remove_gateways(p_gateways text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_names text[] := array(
        select g.name from livewell.gateway as g where g.name = any (p_gateways) and g.last_seen = '-infinity' for update skip locked
    );
    v_removed integer;
begin
    delete from livewell.gateway as g
    where g.name = any (v_names) and not exists (select from livewell.session as s where s.gateway = g.name);
    get diagnostics v_removed = row_count;
    return v_removed;
end $function$;
