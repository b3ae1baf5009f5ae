-- What is in the audit log stays as it is, whoever asks.
-- for: internal
create or replace function livewell_private.refuse_audit_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using
        errcode = 'LWA02',
        message = format('%s is append-only: %s is refused', tg_table_name, lower(tg_op)),
        hint = 'write another entry that corrects the first';
end
$$;
