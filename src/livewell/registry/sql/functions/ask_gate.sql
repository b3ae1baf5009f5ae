-- What a user's gate says of some keys, by key. A key it names twice is open if one of the answers says so.
-- for: internal
create or replace function livewell_private.ask_gate(p_gate text, p_keys text[], p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
begin
    if not livewell_private.is_identifier(p_gate, true) then
        raise exception using errcode = 'LWR03', message = 'the gate is no function of a schema', hint = 'livewell types check';
    end if;
    perform livewell_private.require_foreign('ask_foreign');
    return livewell_private.ask_foreign(format(
        'select coalesce(jsonb_object_agg(a.key, jsonb_build_object(''open'', a.open, ''opens_at'', a.opens_at)), ''{}'') from ('
        'select g.key, bool_or(g.open) as open, min(g.opens_at) as opens_at from %I.%I($2, ($1 ->> ''now'')::timestamptz) as g'
        ' where g.key is not null group by g.key) as a',
        split_part(p_gate, '.', 1), split_part(p_gate, '.', 2)
    ), jsonb_build_object('now', p_now), p_keys);
end $$;
