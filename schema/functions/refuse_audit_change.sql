-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    raise exception using
        errcode = 'LWA02',
        message = format('%s is append-only: %s is refused', tg_table_name, lower(tg_op)),
        hint = 'write another entry that corrects the first';
end
$function$;
