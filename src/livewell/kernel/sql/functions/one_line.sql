-- What somebody else said, as one line of bounded length that a terminal, a log and a page can show: what would break the line or
-- change its direction is a space.
-- for: internal
create or replace function livewell_private.one_line(p_text text, p_most integer) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case when length(t.line) > p_most then left(t.line, p_most - 1) || '…' else t.line end
    from (
        select btrim(regexp_replace(
            p_text, '[\s\u0001-\u001F\u007F-\u009F\u200B\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]+', ' ', 'g'
        )) as line
    ) as t
$$;
