-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.export_audit(p_after bigint, p_upto bigint)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
    with chain as materialized (
        select s.number, s.members, s.hash, s as seal from livewell.audit_seal s where s.number > p_after and s.number <= p_upto
    )
    select part.line
    from (
        select c.number, 1 as place, entry.id, '{"id" : ' || entry.id || ', ' || entry.body as line
        from chain c
        cross join lateral unnest(c.members) as r
        join livewell.audit_line entry on entry.id >= lower(r) and entry.id < upper(r)
        union all
        select c.number, 2, 0, livewell.audit_seal_line(c.seal) from chain c
        union all
        select c.number, 3, 0, json_build_object('head', c.number, 'hash', encode(c.hash, 'hex'))::text from chain c
    ) part
    order by part.number, part.place, part.id
$function$;

grant execute on function livewell.export_audit(bigint,bigint) to livewell_service;
