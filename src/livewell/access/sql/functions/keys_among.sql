-- Which of some texts are keys of a type, each once: what is none is asked of nobody's table.
-- for: internal
create or replace function livewell_private.keys_among(p_type text, p_keys text[]) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select array(
        select distinct k.key from unnest(p_keys) as k (key)
        join livewell_private.known_types as t on t.name = p_type
        where livewell_private.is_key(k.key, t.key_pattern)
    )
$$;
