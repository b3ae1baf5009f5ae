-- Refuses a list of keys that is none, or longer than one call for viewers reads.
-- for: internal
create or replace function livewell_private.require_keys_at_once(p_type text, p_keys text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_most constant integer := livewell_private.keys_at_once(p_type);
begin
    if p_keys is null or cardinality(p_keys) > v_most then
        raise exception using errcode = 'LWC03', message = format('1 to %s keys of type %s are read at once', v_most, p_type),
            hint = 'read them in parts';
    end if;
end $$;
