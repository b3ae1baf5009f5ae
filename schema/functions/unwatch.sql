-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.unwatch(p_session uuid, p_items jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_user text;
    v_types text[];
    v_keys text[];
    v_outcomes text[];
    v_ended integer := 0;
begin
    perform livewell.require_primary();
    v_user := livewell.current_user_id();
    select a.types, a.keys into v_types, v_keys from livewell.items_asked(p_items) as a;
    perform livewell.require_own_session(p_session, v_user);
    for v_try in 1..8 loop
        v_outcomes := livewell.unsubscribe(array_fill(p_session, array[cardinality(v_types)]), v_types, v_keys, clock_timestamp());
        v_ended := v_ended + (select count(*) from unnest(v_outcomes) as o (outcome) where o.outcome = 'unsubscribed');
        exit when 'busy' <> all (v_outcomes);
    end loop;
    perform livewell.require_outcomes(v_outcomes);
    return v_ended;
end $function$;

grant execute on function livewell.unwatch(uuid,jsonb) to livewell_user;
