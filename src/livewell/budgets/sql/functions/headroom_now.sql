-- What may start now under some limits and the quotas of their providers. The caller holds the locks.
-- for: internal
create or replace function livewell_private.headroom_now(
    p_names text[], p_providers text[], p_in_flight livewell_private.endpoint_calls[], p_now timestamptz
) returns livewell_private.headroom
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_headroom livewell_private.headroom;
begin
    v_headroom.limits := livewell_private.limits_now(p_names, p_in_flight, p_now);
    v_headroom.has_keys := array_to_string(p_names, ' ') like '%@%';
    v_headroom.quotas := livewell_private.quotas_now(p_providers, p_in_flight, p_now);
    return v_headroom;
end $$;
