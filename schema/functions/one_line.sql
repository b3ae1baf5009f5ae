-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.one_line(p_text text, p_most integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select case when length(t.line) > p_most then left(t.line, p_most - 1) || '…' else t.line end
    from (
        select btrim(regexp_replace(
            p_text, '[\s\u0001-\u001F\u007F-\u009F\u200B\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]+', ' ', 'g'
        )) as line
    ) as t
$function$;
