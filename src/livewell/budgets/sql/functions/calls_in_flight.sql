-- What is under way at the endpoints of some providers, by endpoint and key: calls that count against concurrency, and bytes
-- reserved that no ledger has yet. Permits are counted here; whoever else makes calls has named a function that counts its own.
-- for: internal
create or replace function livewell_private.calls_in_flight(p_providers text[], p_now timestamptz)
returns livewell_private.endpoint_calls[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_calls livewell_private.endpoint_calls[] := livewell_private.permits_in_flight(p_providers, p_now);
    v_theirs livewell_private.endpoint_calls[];
    v_function text;
begin
    for v_function in select c.in_flight from livewell_private.caller as c loop
        execute format('select livewell_private.%I($1)', v_function) into v_theirs using p_providers;
        v_calls := v_calls || v_theirs;
    end loop;
    return v_calls;
end $$;
