-- Locks those sessions that nobody else has at this moment; notes the others, and answers with both.
-- for: internal
create or replace function livewell_private.lock_free_sessions(p_ids uuid[], p_now timestamptz, out locked uuid[], out busy uuid[])
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_transactions xid[];
begin
    locked := array(select s.id from livewell_private.session as s where s.id = any (p_ids) order by s.id for update skip locked);
    select array_agg(s.id), array_agg(s.xmax) into busy, v_transactions
    from livewell_private.session as s where s.id = any (p_ids) and s.id <> all (lock_free_sessions.locked);
    if busy is null then
        busy := '{}';
        return;
    end if;
    perform livewell_private.note_locked_rows('presence.session_held', '', 'livewell_private.session', busy::text[], busy::text[], v_transactions, p_now);
end $$;
