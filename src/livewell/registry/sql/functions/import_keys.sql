-- Adds keys to Livewell's catalogue of a type, all of them or, when one is none, nothing. A key that is there keeps whether it
-- is active; an exchange that is said replaces the one it had. Answers how many were added and how many changed.
-- for: owner
create or replace function livewell.import_keys(
    p_type text, p_keys text[], p_exchanges text[] default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (added bigint, changed bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_strange integer[];
begin
    perform livewell_private.require_primary();
    v_strange := array(select s.at from livewell.strange_keys(p_type, p_keys, p_exchanges) as s (at));
    if v_strange <> '{}' then
        raise exception using errcode = 'LWR05',
            message = format('%s is no key of type %s, or its exchange no code', coalesce(quote_literal(left(p_keys[v_strange[1]], 100)), 'null'), p_type),
            hint = format('livewell types show %s: its key_pattern says what a key is', p_type),
            detail = array_to_string(v_strange[:100], ',');
    end if;
    with written as (
        insert into livewell_private.type_key as t (data_type, key, exchange, created_at)
        select distinct on (k.key) p_type, k.key, k.exchange, p_now
        from unnest(p_keys, p_exchanges) with ordinality as k (key, exchange, at)
        order by k.key, k.at desc
        on conflict (data_type, key) do update set exchange = excluded.exchange
        where excluded.exchange is not null and t.exchange is distinct from excluded.exchange
        -- A row that was there has been locked by this statement, a new one by nobody.
        returning t.xmax = 0 as is_new
    )
    select count(*) filter (where w.is_new), count(*) filter (where not w.is_new) into added, changed from written as w;
    if added + changed > 0 then
        perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
            'event', 'keys_imported', 'table_name', 'type_key', 'record_id', p_type, 'operation', 'insert',
            'detail', jsonb_build_object('added', added, 'changed', changed), 'actor', p_actor
        )), p_now);
    end if;
    return next;
end $$;
