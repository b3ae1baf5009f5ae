-- Tells whoever shows data to viewers that rights changed: of a user, a type, an access key, or, with nothing named, of everybody. A
-- hint, given at the commit; everything is also asked anew every `live.recheck`.
-- for: internal
create or replace function livewell_private.tell_rights(p_what jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.notify('livewell_rights', jsonb_strip_nulls(p_what)::text);
end $$;
