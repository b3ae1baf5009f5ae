-- Which of some keys of a type its read rule lets whoever asks look at: what may be read, and of what rows decide also that of which
-- nothing is stored yet.
-- for: internal
create or replace function livewell_private.watchable_keys(p_type text, p_keys text[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_keys constant text[] := livewell_private.keys_let_through(p_type, p_keys);
    v_rows livewell_private.stored_value[];
    v_through livewell_private.stored_value[];
begin
    if not exists (select from livewell_private.known_types as t where t.name = p_type and t.read_equals like 'column:%') then
        return v_keys;
    end if;
    v_rows := livewell_private.rows_of_keys(
        livewell_private.type_named(p_type), livewell_private.keys_among(p_type, v_keys), livewell.setting_integer('fetching.rows_per_key')
    );
    v_through := livewell_private.rows_let_through(p_type, v_rows);
    return array(
        select k.key from unnest(v_keys) as k (key)
        left join unnest(v_rows) as r on r.key = k.key left join unnest(v_through) as t on t.key = k.key
        where r.key is null or t.key is not null
    );
end $$;
