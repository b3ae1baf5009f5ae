-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.begin_probes(p_names text[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_changes jsonb;
begin
    with begun as (
        update livewell.limit_use as u set breaker = 'half_open', breaker_passed = 0
        where u.name = any (p_names) and u.breaker = 'open' and u.breaker_until <= p_now
        returning u.name
    )
    select jsonb_agg(jsonb_build_object(
        'event', 'breaker_half_opened', 'table_name', 'endpoint', 'record_id', b.name, 'operation', 'update',
        'old', jsonb_build_object('breaker', 'open'), 'new', jsonb_build_object('breaker', 'half_open'), 'actor', 'livewell'
    ))
    into v_changes
    from begun as b;
    if v_changes is not null then
        perform livewell.audit_write(v_changes, p_now);
    end if;
end $function$;
