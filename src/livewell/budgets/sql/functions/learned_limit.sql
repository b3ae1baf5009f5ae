-- A learned limit after another observation: a smaller one is taken over, a larger one approached by a tenth when it may grow.
-- for: internal
create or replace function livewell_private.learned_limit(p_known integer, p_seen double precision, p_grows boolean) returns integer
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case
        when p_known is null or p_seen <= p_known then p_seen
        when p_grows then least(p_seen, p_known + greatest(1, p_known / 10))
        else p_known
    end::integer
$$;
