-- Records something odd that was survived, where a person and alerts find it, counted by hour, code and subject. The code is
-- a room and a word ('freshness.check_failed'), the subject what it is about (a type, a provider);
-- one that came several times at once is counted so often. It only inserts: nobody waits for another who warns of the same.
-- for: internal
create or replace function livewell_private.warn(p_code text, p_subject text, p_message text, p_now timestamptz, p_times integer default 1)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.fresh_warning (code, subject, warnings, message, warned_at)
    values (p_code, left(coalesce(p_subject, ''), 300), p_times, livewell_private.one_line(p_message, 2000), p_now);
end $$;
