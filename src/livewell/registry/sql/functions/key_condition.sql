-- What is_key asks, as an expression for a statement that may not call functions of ours: of a column, by a pattern that is another
-- expression.
-- for: internal
create or replace function livewell_private.key_condition(p_column text, p_pattern text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp as $$
    select format(
        'case when %1$s is null or length(%1$s) not between 1 and 256 or %1$s ~ %3$L then false else %1$s ~ %2$s end',
        p_column, p_pattern, livewell_private.strange_characters()
    )
$$;
