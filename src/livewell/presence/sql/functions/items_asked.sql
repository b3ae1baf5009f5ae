-- Reads the items a user names, [{"type", "key"}, …], as types and keys by position; refuses anything else.
-- for: internal
create or replace function livewell_private.items_asked(p_items jsonb, out types text[], out keys text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_most constant integer := livewell.setting_integer('presence.items_per_session');
begin
    if jsonb_typeof(p_items) is distinct from 'array' or exists (
        select from jsonb_array_elements(p_items) as i (item)
        where jsonb_typeof(i.item -> 'type') is distinct from 'string' or jsonb_typeof(i.item -> 'key') is distinct from 'string'
    ) then
        raise exception using errcode = 'LWP02', message = 'items are an array of objects with a type and a key',
            hint = '[{"type": "quote", "key": "AAPL"}]';
    end if;
    if jsonb_array_length(p_items) > v_most then
        raise exception using errcode = 'LWP05', message = format('one session looks at no more than %s items', v_most),
            hint = 'presence.items_per_session';
    end if;
    select coalesce(array_agg(i.item ->> 'type' order by i.position), '{}'), coalesce(array_agg(i.item ->> 'key' order by i.position), '{}')
    into types, keys
    from jsonb_array_elements(p_items) with ordinality as i (item, position);
end $$;
