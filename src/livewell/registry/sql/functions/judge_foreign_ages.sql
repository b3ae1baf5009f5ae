-- What a user's staleness function says of ages, by position, with the rights of a role that has nothing of Livewell's; whatever else
-- the function did is taken back. $1 times, $2 TTLs, $3 now.
-- for: internal
-- runs as: livewell_reader
create or replace function livewell_private.judge_foreign_ages(p_query text, p_newest timestamptz[], p_ttls interval[], p_now timestamptz)
returns boolean[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_stale boolean[];
    v_read boolean := false;
begin
    execute p_query into v_stale using p_newest, p_ttls, p_now;
    v_read := true;
    raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
exception
    when others then
        if not v_read then
            raise;
        end if;
        return v_stale;
end $$;
