-- Refuses to seal in a transaction that has written already: its id is older than what it would have to be newer than.
-- for: internal
create or replace function livewell.require_unwritten_transaction() returns void
language plpgsql stable security definer set search_path = '' as $$
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception using
            errcode = 'LWA03',
            message = 'the audit log is sealed in a transaction of its own, and this one has written already',
            hint = 'commit first, then call seal_audit';
    end if;
end
$$;
