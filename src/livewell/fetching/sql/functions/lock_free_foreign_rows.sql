-- Locks what it can of a user's rows and answers with the keys that have others, with the rights of a role that has nothing of
-- Livewell's. $1 keys; of the second statement $2 what was locked.
-- for: internal
-- runs as: livewell_writer
create or replace function livewell_private.lock_free_foreign_rows(p_locking text, p_reading text, p_keys text[]) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_free tid[];
    v_busy text[];
begin
    execute p_locking into v_free using p_keys;
    execute p_reading into v_busy using p_keys, v_free;
    return v_busy;
end $$;
