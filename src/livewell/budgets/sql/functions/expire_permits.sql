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
    select array_agg(c::livewell_private.spent_call) into v_calls
    from (
        select e.endpoint, e.api_key, 'permit' as subject, e.granted_at as started_at, e.bytes as reserved_bytes,
            e.tokens as reserved_tokens, null::bigint as bytes, null::integer as tokens, 'expired' as outcome, null::jsonb as rate,
            false as is_passenger
        from expired as e cross join lateral unnest(e.open)
    ) as c;
    if v_calls is not null then
        perform livewell_private.settle_calls(v_calls, p_now);
    end if;
    return coalesce(cardinality(v_calls), 0);
end $$;
