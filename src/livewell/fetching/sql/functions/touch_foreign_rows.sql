-- Moves the time of rows of a user's table with the rights of a role that has nothing of Livewell's, and answers with the keys that
-- have rows. What would be checked at commit is checked here. $1 now, $2 keys.
-- for: internal
-- runs as: livewell_writer
create or replace function livewell_private.touch_foreign_rows(p_query text, p_now timestamptz, p_keys text[]) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_touched text[];
begin
    execute p_query into v_touched using p_now, p_keys;
    set constraints all immediate;
    return v_touched;
end $$;
