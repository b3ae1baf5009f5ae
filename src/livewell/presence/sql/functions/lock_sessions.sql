-- Locks sessions by id, and answers with those it locked, and those that somebody else has for longer than a moment: they are not waited
-- for. One that ended and was opened anew while it was waited for is neither: it is another row now, which nobody has locked, and taking it
-- late would be out of order.
-- for: internal
create or replace function livewell_private.lock_sessions(p_ids uuid[], p_now timestamptz, out locked uuid[], out busy uuid[])
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
begin
    locked := array(select s.id from livewell_private.session as s where s.id = any (p_ids) order by s.id for update);
    busy := '{}';
exception when lock_not_available then
    select f.locked, f.busy into locked, busy from livewell_private.lock_free_sessions(p_ids, p_now) as f;
end $$;
