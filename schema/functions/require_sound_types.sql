-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_sound_types(p_declared jsonb, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_wrong record;
begin
    select min(f.data_type) as name, string_agg(format('type %s: %s', f.data_type, f.message), '; ') as message,
        string_agg(distinct f.fix, '; ') filter (where f.fix <> '') as fix
    into v_wrong
    from livewell.findings_on_asked(p_declared, p_now) as f
    join livewell.types_as_asked(p_declared, p_now) as a on (a.type).name = f.data_type
    -- What stays as it is was checked when it was written; a table that went since is the concern of check_types.
    where f.severity = 'error' and (a.change).change <> 'same';
    if v_wrong.name is not null then
        raise exception using errcode = 'LWR03', message = v_wrong.message, detail = format('type %s', v_wrong.name),
            hint = coalesce(v_wrong.fix, '');
    end if;
end $function$;
