-- Asks what is not Livewell's a question that Livewell wrote, with the rights of a role that has nothing of Livewell's, and takes
-- back whatever else the asking did. $1 is what is asked, an object, $2 are keys; the answer is one value.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.ask_foreign(p_query text, p_asked jsonb, p_keys text[] default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_answer jsonb;
    v_read boolean := false;
begin
    execute p_query into v_answer using p_asked, p_keys;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
        return v_answer;
end $$;
