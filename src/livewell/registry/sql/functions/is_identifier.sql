-- Whether a text names a column or, qualified, a table or function of a schema: letters, digits and underscores, as long as
-- PostgreSQL keeps. What is there for one session only is named by nobody. Asked when a name is written, and again when it is used.
-- for: internal
create or replace function livewell_private.is_identifier(p_name text, p_qualified boolean) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select coalesce(case
        when p_qualified then p_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$' and p_name !~ '^pg_(temp|toast)'
        else p_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$'
    end, false)
$$;
