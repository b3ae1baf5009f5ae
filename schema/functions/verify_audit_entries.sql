-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.verify_audit_entries(p_after bigint, p_upto bigint)
 RETURNS TABLE(problem text, seal bigint, entry_id bigint, detail text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    with head as materialized (
        select * from livewell.last_audit_seal()
    ),
    accounted as materialized (
        select coalesce(range_agg(s.members), '{}') + head.open_ids as ids
        from head
        left join livewell.audit_seal s on s.members && int8multirange(int8range(p_after + 1, p_upto + 1))
        group by head.open_ids
    )
    select 'entry_inserted', null::bigint, e.id, 'the entry is in no seal, and its id can no longer come from a late commit'
    from livewell.audit_entry e
    cross join head
    cross join accounted
    where e.id > case p_after when 0 then -9223372036854775808 else p_after end
        and e.id <= p_upto and e.id <= head.high_water and not e.id <@ accounted.ids
    order by e.id
$function$;

grant execute on function livewell.verify_audit_entries(bigint,bigint) to livewell_service;
