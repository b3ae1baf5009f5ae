-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.audit_state()
 RETURNS TABLE(head_number bigint, head_hash bytea, sealed_at timestamp with time zone, sealed_entries bigint, high_water bigint, unsealed_entries bigint, oldest_unsealed_at timestamp with time zone, missing_ids bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    with head as materialized (
        select * from livewell.last_audit_seal()
    ),
    unsealed as (
        select e.id, e.at
        from head
        cross join lateral unnest(head.open_ids) as hole (ids)
        join livewell.audit_entry e on e.id >= lower(hole.ids) and e.id < upper(hole.ids)
        union all
        select e.id, e.at from head join livewell.audit_entry e on e.id > head.high_water
    )
    select
        head.number, head.hash, head.sealed_at,
        (select coalesce(sum(s.entries), 0)::bigint from livewell.audit_seal s),
        head.high_water,
        (select count(*) from unsealed),
        (select min(u.at) from unsealed u),
        greatest(coalesce(pg_sequence_last_value('livewell.audit_entry_id_seq'), 0) - head.high_water
            - (select count(*) from unsealed u where u.id > head.high_water), 0)
    from head
$function$;

grant execute on function livewell.audit_state() to livewell_service;
