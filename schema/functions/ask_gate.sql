-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ask_gate(p_gate text, p_keys text[], p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
declare
    v_answers jsonb;
begin
    if not livewell.is_identifier(p_gate, true) then
        raise exception using errcode = 'LWR03', message = 'the gate is no function of a schema', hint = 'livewell types check';
    end if;
    execute format(
        'select coalesce(jsonb_object_agg(a.key, jsonb_build_object(''open'', a.open, ''opens_at'', a.opens_at)), ''{}'') from ('
        'select g.key, bool_or(g.open) as open, min(g.opens_at) as opens_at from %I.%I($1, $2) as g'
        ' where g.key is not null group by g.key) as a',
        split_part(p_gate, '.', 1), split_part(p_gate, '.', 2)
    ) into v_answers using p_keys, p_now;
    return v_answers;
end $function$;
