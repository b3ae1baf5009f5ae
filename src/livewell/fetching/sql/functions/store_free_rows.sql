-- Stores those refreshes of one type whose rows nobody else has, and sets the others aside; a single one that cannot be stored for
-- somebody's sake is set aside too.
-- for: internal
create or replace function livewell_private.store_free_rows(
    p_storing livewell_private.storing, p_ended livewell_private.ended_fetch[], p_busy text[], p_now timestamptz
) returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_free constant livewell_private.ended_fetch[] := array(
        select e from unnest(p_ended) as e where e.key <> all (p_busy) and cardinality(p_ended) > 1
    );
    v_verdicts livewell_private.fetch_verdict[] := livewell_private.set_fetches_aside(p_storing.type, array(
        select e from unnest(p_ended) as e where e.key = any (p_busy) or cardinality(p_ended) = 1
    ), p_now);
begin
    if v_free <> '{}' then
        v_verdicts := v_verdicts || livewell_private.store_rows(p_storing, v_free, p_now);
    end if;
    return v_verdicts;
end $$;
