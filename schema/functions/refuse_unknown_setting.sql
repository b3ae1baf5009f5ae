-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_unknown_setting(p_name text, p_type text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_type text := (select s.type from livewell.setting s where s.name = p_name);
    v_nearest text := livewell.nearest_setting(p_name);
begin
    raise exception using
        errcode = 'LWS01',
        message = case
            when v_type is null then format('there is no setting %s', coalesce(quote_ident(p_name), 'without a name'))
            else format('setting %s is of type %s, not %s', p_name, v_type, p_type)
        end,
        hint = case
            when v_type is not null then format('read it with setting_%s', replace(v_type, 'duration', 'interval'))
            when v_nearest is not null then format('did you mean %s?', v_nearest)
            else 'the names are in the view livewell.settings'
        end;
end
$function$;
