-- Locks sessions by id, and answers with those that somebody else has for longer than a moment: they are not waited for.
-- for: internal
create or replace function livewell_private.lock_sessions(p_ids uuid[], p_now timestamptz) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
begin
    perform from livewell_private.session as s where s.id = any (p_ids) order by s.id for update;
    return array[]::uuid[];
exception when lock_not_available then
    return livewell_private.lock_free_sessions(p_ids, p_now);
end $$;
