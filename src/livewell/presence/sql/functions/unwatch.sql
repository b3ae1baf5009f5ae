-- A user no longer looks at items, [{"type", "key"}, …], in a session of the user's own; answers with how many ended. What
-- somebody else holds is waited for, two seconds long.
-- for: user
create or replace function livewell.unwatch(p_session uuid, p_items jsonb) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_user text;
    v_types text[];
    v_keys text[];
    v_outcomes text[];
    v_ended integer := 0;
begin
    perform livewell_private.require_primary();
    v_user := livewell.current_user_id();
    select a.types, a.keys into v_types, v_keys from livewell_private.items_asked(p_items) as a;
    perform livewell_private.require_own_session(p_session, v_user);
    for v_try in 1..8 loop
        v_outcomes := livewell.unsubscribe(array_fill(p_session, array[cardinality(v_types)]), v_types, v_keys, clock_timestamp());
        v_ended := v_ended + (select count(*) from unnest(v_outcomes) as o (outcome) where o.outcome = 'unsubscribed');
        exit when 'busy' <> all (v_outcomes);
    end loop;
    perform livewell_private.require_outcomes(v_outcomes);
    return v_ended;
end $$;
