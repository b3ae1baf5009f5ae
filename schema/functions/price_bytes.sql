-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.price_bytes(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    if not exists (
        select from livewell.data_type as t
        join livewell.endpoint as e on e.name = t.endpoint
        join livewell.provider as p on p.name = e.provider and p.quota_bytes is not null and p.pace = 'even'
        left join livewell.refresh_policy as r on r.provider = p.name
        where r.priced_at is null or r.priced_at <= p_now - interval '10 seconds'
    ) then
        return;
    end if;
    insert into livewell.refresh_policy (provider)
    select p.name from livewell.provider as p
    where p.quota_bytes is not null and p.pace = 'even'
        and not exists (select from livewell.refresh_policy as r where r.provider = p.name)
        and exists (
            select from livewell.data_type as t join livewell.endpoint as e on e.name = t.endpoint where e.provider = p.name
        )
    on conflict (provider) do nothing;
    update livewell.refresh_policy as r
    set integral = n.integral, price = exp(n.integral + 4 * n.error), bucket_share = n.share, priced_at = p_now
    from (
        select
            o.provider, s.share, 0.5 - s.share as error, greatest(-35, least(0, o.integral + (0.5 - s.share) / 360
                * coalesce(least(60, greatest(0, extract(epoch from p_now - o.priced_at) / 60)), 0))) as integral
        from livewell.refresh_policy as o
        join livewell.provider as p on p.name = o.provider and p.quota_bytes is not null and p.pace = 'even'
        join livewell.quota_rooms(array(select q.provider from livewell.refresh_policy as q), null, p_now) as b on b.provider = o.provider
        cross join lateral (
            select greatest(-1, b.bucket / (b.allowed * extract(epoch from p.pace_bucket) / extract(epoch from p.quota_window))) as share
        ) as s
    ) as n
    where r.provider = n.provider;
end $function$;
