-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ask_gate(p_gate text, p_keys text[], p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
begin
    if not livewell.is_identifier(p_gate, true) then
        raise exception using errcode = 'LWR03', message = 'the gate is no function of a schema', hint = 'livewell types check';
    end if;
    perform livewell.require_foreign('ask_foreign');
    return livewell.ask_foreign(format(
        'select coalesce(jsonb_object_agg(a.key, jsonb_build_object(''open'', a.open, ''opens_at'', a.opens_at)), ''{}'') from ('
        'select g.key, bool_or(g.open) as open, min(g.opens_at) as opens_at from %I.%I($2, ($1 ->> ''now'')::timestamptz) as g'
        ' where g.key is not null group by g.key) as a',
        split_part(p_gate, '.', 1), split_part(p_gate, '.', 2)
    ), jsonb_build_object('now', p_now), p_keys);
end $function$;
