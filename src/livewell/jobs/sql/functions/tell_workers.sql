-- Wakes idle workers of the kinds' groups, if there are any, and answers with the kinds that no running worker handles.
-- for: internal
create or replace function livewell_private.tell_workers(p_kinds text[], p_now timestamptz)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_idle boolean;
    v_handled boolean;
begin
    select bool_or(w.idle), bool_or(w.kinds @> p_kinds) into v_idle, v_handled
    from livewell_private.worker as w where w.last_seen > p_now - interval '5 minutes';
    if v_idle then
        perform livewell_private.wake_workers(p_kinds);
    end if;
    if v_handled then
        return null;
    end if;
    return array(
        select k.kind from unnest(p_kinds) as k (kind)
        where not exists (
            select from livewell_private.worker as w
            where k.kind = any (w.kinds) and w.last_seen > p_now - interval '5 minutes'
        )
    );
end $$;
