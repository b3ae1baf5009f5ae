-- Moves the price of a byte, in minutes of viewers, so that each provider's bucket stays half full: a proportional and an
-- integral part, both in the logarithm. A full bucket cannot save anything, and then bytes are free; so are they without an
-- even allowance.
-- for: internal
create or replace function livewell_private.price_bytes(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (
        select from livewell_private.known_types as t
        join livewell.endpoints as e on e.name = t.endpoint
        join livewell.providers as p on p.name = e.provider and p.quota_bytes is not null and p.pace = 'even'
        left join livewell_private.byte_price as r on r.provider = p.name
        where r.priced_at is null or r.priced_at <= p_now - interval '10 seconds'
    ) then
        return;
    end if;
    insert into livewell_private.byte_price (provider)
    select p.name from livewell.providers as p
    where not exists (select from livewell_private.byte_price as r where r.provider = p.name)
        and exists (
            select from livewell_private.known_types as t join livewell.endpoints as e on e.name = t.endpoint where e.provider = p.name
        )
    order by p.name
    on conflict (provider) do nothing;
    update livewell_private.byte_price as r
    set integral = n.integral, bucket_share = n.share, priced_at = p_now,
        price = case when n.share < 0.98 then exp(n.integral + 4 * (0.5 - n.share)) else 0 end
    from (
        select
            o.provider, s.share, greatest(ln(0.000001), least(0, o.integral + (0.5 - s.share) / 360
                * coalesce(least(10, greatest(0, extract(epoch from p_now - o.priced_at) / 60)), 0)::double precision)) as integral
        from livewell_private.byte_price as o
        join livewell.providers as p on p.name = o.provider
        left join unnest(livewell_private.quotas_now(array(select q.provider from livewell_private.byte_price as q), null, p_now)) as b on b.provider = o.provider
        cross join lateral (
            select coalesce(case when p.pace = 'even' then greatest(-1, b.bucket / (
                b.allowed * extract(epoch from p.pace_bucket)::double precision / extract(epoch from p.quota_window)::double precision
            )) end, 1) as share
        ) as s
    ) as n
    where r.provider = n.provider;
end $$;
