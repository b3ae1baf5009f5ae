-- What is stored of keys of a type, in their order, as text, for a class of viewers: the transaction has its role and its claims and
-- nothing else. What the read rule keeps from it is not visible; where nothing is stored there is nothing to keep. How many keys one
-- call reads is said by `livewell.type_reading`.
-- for: user, anon
create or replace function livewell.read_values(p_type text, p_keys text[])
returns table (key text, value text, visible boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    v_keys text[];
    v_rows livewell_private.stored_value[];
    v_through livewell_private.stored_value[];
begin
    perform livewell_private.require_reader(p_type, livewell_private.calling_role(), false);
    perform livewell_private.require_keys_at_once(p_type, p_keys);
    v_keys := livewell_private.keys_let_through(p_type, livewell_private.keys_among(p_type, p_keys));
    v_rows := livewell_private.rows_of_keys(livewell_private.type_named(p_type), v_keys, livewell.setting_integer('fetching.rows_per_key'));
    v_through := livewell_private.rows_let_through(p_type, v_rows);
    return query
    select a.key, t.value::text, a.key = any (v_keys) and (t.key is not null or r.key is null)
    from unnest(p_keys) with ordinality as a (key, position)
    left join unnest(v_rows) as r on r.key = a.key
    left join unnest(v_through) as t on t.key = a.key
    order by a.position;
end $$;
