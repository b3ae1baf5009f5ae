-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.contested_serial_keys(p_places tid[], p_others tid[], p_wrote_before boolean)
 RETURNS text[]
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    with free as materialized (
        select r.ctid from livewell.job_live as r
        where r.ctid = any (p_others) and r.state = 'pending' and r.waiting_for is null
        for update skip locked
    )
    select array_agg(distinct r.serial_key)
    from livewell.job_live as r
    join livewell.job_live as j on j.serial_key = r.serial_key and j.ctid = any (p_places)
    where r.ctid = any (p_others) and r.state = 'pending' and r.waiting_for is null and r.ctid not in (select f.ctid from free as f)
        and (p_wrote_before or age(r.xmax) >= age(j.xmax))
$function$;
