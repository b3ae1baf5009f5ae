-- The question for what a user's staleness function says of ages, by position; what was never fetched is not asked about. $1 times,
-- $2 TTLs, $3 now.
-- for: internal
create or replace function livewell_private.staleness_query(p_type livewell_private.data_type) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select format(
        'select array_agg(case when a.newest is not null then %I.%I(a.newest, a.ttl, $3) end order by a.at)'
        ' from unnest($1, $2) with ordinality as a (newest, ttl, at)',
        split_part((p_type).staleness, '.', 1), split_part((p_type).staleness, '.', 2)
    )
$$;
