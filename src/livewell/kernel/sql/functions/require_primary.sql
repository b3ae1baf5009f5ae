-- Refuses on a replica: what a standby would decide could not be written, and what it reads may be old.
-- for: internal
create or replace function livewell_private.require_primary() returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
    if pg_catalog.pg_is_in_recovery() then
        raise exception using
            errcode = 'LWK01',
            message = 'this server is a replica and decides nothing',
            hint = 'connect to the primary';
    end if;
end
$$;
