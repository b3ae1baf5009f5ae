-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.tell_workers(p_kinds text[], p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_idle boolean;
    v_handled boolean;
begin
    select bool_or(w.idle), bool_or(w.kinds @> p_kinds) into v_idle, v_handled
    from livewell.worker as w where w.last_seen > p_now - interval '5 minutes';
    if v_idle then
        perform livewell.wake_workers(p_kinds);
    end if;
    if v_handled then
        return null;
    end if;
    return array(
        select k.kind from unnest(p_kinds) as k (kind)
        where not exists (
            select from livewell.worker as w
            where k.kind = any (w.kinds) and w.last_seen > p_now - interval '5 minutes'
        )
    );
end $function$;
