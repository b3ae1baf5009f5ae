-- Moves the time of records, and answers with the keys that have one.
-- for: internal
create or replace function livewell.touch_records(p_type text, p_keys text[], p_now timestamptz) returns text[]
language plpgsql security definer
set search_path = '' set enable_seqscan = off set jit = off as $$
declare
    v_touched text[];
begin
    perform from livewell.record as r where r.data_type = p_type and r.key = any (p_keys) order by r.key for update;
    with touched as (
        update livewell.record as r set fetched_at = p_now where r.data_type = p_type and r.key = any (p_keys) returning r.key
    )
    select array_agg(t.key) into v_touched from touched as t;
    return coalesce(v_touched, '{}');
end $$;
