-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.heal_serial_jobs()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_keys text[];
begin
    perform livewell.require_primary();
    -- Steps from one waiting key to the next, so that a key with 100,000 jobs behind it costs one look.
    with recursive waiting as (
        (select j.serial_key from livewell.job_live as j
        where j.state = 'pending' and j.serial_key is not null order by j.serial_key limit 1)
        union all
        select n.serial_key from waiting as w cross join lateral (
            select j.serial_key from livewell.job_live as j
            where j.state = 'pending' and j.serial_key is not null and j.serial_key > w.serial_key
            order by j.serial_key limit 1
        ) as n
    )
    select livewell.stalled_serial_keys(array_agg(w.serial_key)) into v_keys from waiting as w;
    if v_keys is null then
        return 0;
    end if;
    perform livewell.wake_workers(livewell.promote_serial_jobs(v_keys));
    return cardinality(v_keys);
end $function$;

grant execute on function livewell.heal_serial_jobs() to livewell_service;
