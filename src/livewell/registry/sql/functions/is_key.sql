-- Whether a text is a key by a type's pattern. What is too long, or has characters that would move a reader's eyes or cursor, is
-- none, whatever the pattern says, and is never matched with it.
-- for: internal
create or replace function livewell_private.is_key(p_key text, p_pattern text) returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
begin
    if p_key is null or length(p_key) not between 1 and 256
        or p_key ~ livewell_private.strange_characters() then
        return false;
    end if;
    return p_key ~ p_pattern;
end $$;
