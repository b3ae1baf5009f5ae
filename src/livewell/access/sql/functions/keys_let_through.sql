-- Which of some keys of a type its read rule lets whoever asks have, as far as that is said without looking at rows.
-- for: internal
create or replace function livewell_private.keys_let_through(p_type text, p_keys text[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type record;
begin
    select t.read_rule, t.read_claim, t.read_equals, t.read_function into v_type
    from livewell_private.known_types as t where t.name = p_type;
    if v_type.read_rule = 'claim' and v_type.read_equals = 'key' then
        return array(select k.key from unnest(p_keys) as k (key) where k.key = any (livewell_private.claim_texts(v_type.read_claim)));
    elsif v_type.read_rule = 'claim' and v_type.read_equals like 'value:%' then
        return case when substr(v_type.read_equals, 7) = any (livewell_private.claim_texts(v_type.read_claim)) then p_keys else '{}' end;
    elsif v_type.read_rule = 'function' then
        return livewell_private.ask_read_function(v_type.read_function, p_type, p_keys);
    end if;
    return p_keys;
end $$;
