-- Books what permits had reserved whose holder fell silent: nobody knows what they used. Their concurrency came back when
-- the lease ended.
-- for: internal
create or replace function livewell_private.expire_permits(p_now timestamptz)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_calls livewell_private.spent_call[];
begin
    with expired as (
        delete from livewell_private.permit_block as b
        where b.id = any (array(
            select o.id from livewell_private.permit_block as o where o.lease_until <= p_now
            order by o.lease_until limit 1000 for update skip locked
        ))
        returning b.*
    )
    select array_agg(row (
        e.endpoint, e.api_key, 'permit', e.granted_at, e.bytes, e.tokens, null, null, 'expired', null, null
    )::livewell_private.spent_call)
    into v_calls
    from expired as e cross join lateral unnest(e.open);
    if v_calls is not null then
        perform livewell_private.settle_calls(v_calls, p_now);
    end if;
    return coalesce(cardinality(v_calls), 0);
end $$;
