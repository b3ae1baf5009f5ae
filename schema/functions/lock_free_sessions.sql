-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_free_sessions(p_ids uuid[], p_now timestamp with time zone)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_free constant uuid[] := array(
        select s.id from livewell.session as s where s.id = any (p_ids) order by s.id for update skip locked
    );
    v_busy uuid[];
    v_transactions xid[];
begin
    select array_agg(s.id), array_agg(s.xmax) into v_busy, v_transactions
    from livewell.session as s where s.id = any (p_ids) and s.id <> all (v_free);
    if v_busy is null then
        return array[]::uuid[];
    end if;
    perform livewell.note_locked_rows('presence.session_held', '', 'livewell.session', v_busy::text[], v_busy::text[], v_transactions, p_now);
    return v_busy;
end $function$;
