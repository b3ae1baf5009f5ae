-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.price_bytes(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if not exists (
        select from livewell.data_type as t
        join livewell.endpoint as e on e.name = t.endpoint
        join livewell.provider as p on p.name = e.provider and p.quota_bytes is not null and p.pace = 'even'
        left join livewell.byte_price as r on r.provider = p.name
        where r.priced_at is null or r.priced_at <= p_now - interval '10 seconds'
    ) then
        return;
    end if;
    insert into livewell.byte_price (provider)
    select p.name from livewell.provider as p
    where not exists (select from livewell.byte_price as r where r.provider = p.name)
        and exists (
            select from livewell.data_type as t join livewell.endpoint as e on e.name = t.endpoint where e.provider = p.name
        )
    order by p.name
    on conflict (provider) do nothing;
    update livewell.byte_price as r
    set integral = n.integral, bucket_share = n.share, priced_at = p_now,
        price = case when n.share < 0.98 then exp(n.integral + 4 * (0.5 - n.share)) else 0 end
    from (
        select
            o.provider, s.share, greatest(ln(0.000001), least(0, o.integral + (0.5 - s.share) / 360
                * coalesce(least(10, greatest(0, extract(epoch from p_now - o.priced_at) / 60)), 0)::double precision)) as integral
        from livewell.byte_price as o
        join livewell.provider as p on p.name = o.provider
        left join unnest(livewell.quotas_now(array(select q.provider from livewell.byte_price as q), null, p_now)) as b on b.provider = o.provider
        cross join lateral (
            select coalesce(case when p.pace = 'even' then greatest(-1, b.bucket / (
                b.allowed * extract(epoch from p.pace_bucket)::double precision / extract(epoch from p.quota_window)::double precision
            )) end, 1) as share
        ) as s
    ) as n
    where r.provider = n.provider;
end $function$;
