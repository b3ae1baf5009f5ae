-- Locks those sessions that nobody else has at this moment; notes the others, and answers with them.
-- for: internal
create or replace function livewell_private.lock_free_sessions(p_ids uuid[], p_now timestamptz) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_free constant uuid[] := array(
        select s.id from livewell_private.session as s where s.id = any (p_ids) order by s.id for update skip locked
    );
    v_busy uuid[];
    v_transactions xid[];
begin
    select array_agg(s.id), array_agg(s.xmax) into v_busy, v_transactions
    from livewell_private.session as s where s.id = any (p_ids) and s.id <> all (v_free);
    if v_busy is null then
        return array[]::uuid[];
    end if;
    perform livewell_private.note_locked_rows('presence.session_held', '', 'livewell_private.session', v_busy::text[], v_busy::text[], v_transactions, p_now);
    return v_busy;
end $$;
