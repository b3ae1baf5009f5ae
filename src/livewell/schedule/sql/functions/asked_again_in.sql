-- When a run asks in its answer to be run again (`again_in`), as an interval that is not negative; null when it does not.
-- for: internal
create or replace function livewell_private.asked_again_in(p_result jsonb) returns interval
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if jsonb_typeof(p_result) is distinct from 'object' or p_result ->> 'again_in' is null then
        return null;
    end if;
    return greatest((p_result ->> 'again_in')::interval, interval '0');
exception when data_exception then
    return null;
end $$;
