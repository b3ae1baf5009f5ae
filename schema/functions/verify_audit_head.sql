-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.verify_audit_head(p_number bigint, p_hash bytea)
 RETURNS TABLE(problem text, seal bigint, entry_id bigint, detail text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select
        case when s.number is null then 'tail_cut' else 'history_rewritten' end,
        kept.number, null::bigint,
        case
            when s.number is null then format('the kept head is not there: the chain ends at seal %s',
                (select coalesce(max(l.number), 0) from livewell.audit_seal l))
            else 'the seal of that number is not the one that was kept'
        end
    from (values (p_number, p_hash)) as kept (number, hash)
    left join livewell.audit_seal s on s.number = kept.number
    where kept.number > 0 and s.hash is distinct from kept.hash
$function$;

grant execute on function livewell.verify_audit_head(bigint,bytea) to livewell_service;
