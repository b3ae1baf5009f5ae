-- Stores those refreshes of one type whose rows nobody else has, and sets the others aside; a single one that cannot be stored for
-- somebody's sake is set aside too.
-- for: internal
create or replace function livewell.store_free_rows(
    p_storing livewell.storing, p_ended livewell.ended_fetch[], p_busy text[], p_now timestamptz
) returns livewell.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_free constant livewell.ended_fetch[] := array(
        select e from unnest(p_ended) as e where e.key <> all (p_busy) and cardinality(p_ended) > 1
    );
    v_verdicts livewell.fetch_verdict[] := livewell.set_fetches_aside(p_storing.type, array(
        select e from unnest(p_ended) as e where e.key = any (p_busy) or cardinality(p_ended) = 1
    ), p_now);
begin
    if v_free <> '{}' then
        v_verdicts := v_verdicts || livewell.store_rows(p_storing, v_free, p_now);
    end if;
    return v_verdicts;
end $$;
