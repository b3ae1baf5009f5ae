-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_unwritten_transaction()
 RETURNS void
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    if pg_current_xact_id_if_assigned() is not null then
        raise exception using
            errcode = 'LWA03',
            message = 'the audit log is sealed in a transaction of its own, and this one has written already',
            hint = 'commit first, then call seal_audit';
    end if;
end
$function$;
