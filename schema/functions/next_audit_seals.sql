-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.next_audit_seals(p_after bigint, p_entries integer DEFAULT 20000)
 RETURNS bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select max(portion.number)
    from (
        select s.number, sum(s.entries) over (order by s.number) - s.entries as before
        from (
            select n.number, n.entries from livewell.audit_seal n where n.number > p_after order by n.number limit p_entries
        ) s
    ) portion
    where portion.before < p_entries
$function$;

grant execute on function livewell.next_audit_seals(bigint,integer) to livewell_service;
