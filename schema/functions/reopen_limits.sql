-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.reopen_limits(p_names text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_providers constant text[] := array(
        select split_part(n.name, '@', 1) from unnest(p_names) as n (name) where strpos(n.name, '/') = 0
    );
    v_closed text[];
begin
    v_closed := array(
        select u.name from livewell.limit_use as u
        where (u.name = any (p_names) or split_part(split_part(u.name, '/', 1), '@', 1) = any (v_providers))
            and u.next_allowed_at <> '-infinity'
        order by u.name collate "C"
        for update
    );
    update livewell.limit_use as u set next_allowed_at = '-infinity' where u.name = any (v_closed);
end $function$;
