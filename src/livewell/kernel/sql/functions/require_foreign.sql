-- Refuses to call a function that touches what is not Livewell's when it no longer runs as a role that has nothing of Livewell's:
-- whoever got hold of it would be run as the owner. Such a role may alter what it owns once it is a member of one that may use the
-- schema, and before PostgreSQL 16 every login may make it a member of itself.
-- for: internal
create or replace function livewell_private.require_foreign(p_function text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (
        select from pg_catalog.pg_proc as p
        where p.proname = p_function and p.pronamespace = 'livewell_private'::regnamespace and p.prosecdef
            and p.proowner in ('livewell_reader'::regrole, 'livewell_writer'::regrole)
    ) then
        raise insufficient_privilege using message = format('livewell_private.%s is not as Livewell made it', p_function),
            hint = 'livewell migrate puts it back; the audit log and pg_auth_members show who had a hand in it';
    end if;
end $$;
