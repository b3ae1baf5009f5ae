-- How many calls wait at the endpoints of some providers, by those that make calls.
-- for: internal
create or replace function livewell_private.calls_waiting(p_providers text[]) returns livewell_private.endpoint_calls[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_calls livewell_private.endpoint_calls[];
    v_theirs livewell_private.endpoint_calls[];
    v_function text;
begin
    for v_function in select c.waiting from livewell_private.caller as c loop
        execute format('select livewell_private.%I($1)', v_function) into v_theirs using p_providers;
        v_calls := v_calls || v_theirs;
    end loop;
    return v_calls;
end $$;
