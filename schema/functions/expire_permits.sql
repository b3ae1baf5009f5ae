-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.expire_permits(p_now timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_calls livewell.spent_call[];
begin
    with expired as (
        delete from livewell.permit_block as b
        where b.id = any (array(
            select o.id from livewell.permit_block as o where o.lease_until <= p_now
            order by o.lease_until limit 1000 for update skip locked
        ))
        returning b.*
    )
    select array_agg(row (
        e.endpoint, e.api_key, 'permit', e.granted_at, e.bytes, e.tokens, null, null, 'expired', null, null
    )::livewell.spent_call)
    into v_calls
    from expired as e cross join lateral unnest(e.open);
    if v_calls is not null then
        perform livewell.settle_calls(v_calls, p_now);
    end if;
    return coalesce(cardinality(v_calls), 0);
end $function$;
