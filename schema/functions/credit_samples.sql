-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.credit_samples(p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_share constant double precision := livewell.setting_number('freshness.sample_share');
begin
    insert into livewell.sample_allowance as a (provider, hour, requests)
    select p.name, v_hour, coalesce((select h.requests from livewell.quota_hour as h where h.provider = p.name and h.hour = v_hour), 0)
    from livewell.provider as p
    where exists (
        select from livewell.endpoint as e join livewell.data_type as t on t.endpoint = e.name and t.enabled where e.provider = p.name
    ) and not exists (select from livewell.sample_allowance as a where a.provider = p.name)
    order by p.name
    on conflict (provider) do nothing;
    update livewell.sample_allowance as a
    set hour = v_hour, requests = u.this_hour, credit = case
        when v_share > 0 then least(a.credit + v_share * u.grown, greatest(1, v_share * greatest(u.grown, u.busiest))) else 0
    end
    from (
        select
            a.provider, greatest(coalesce(sum(h.requests), 0) - a.requests, 0) as grown,
            coalesce(sum(h.requests) filter (where h.hour = v_hour), 0) as this_hour, coalesce(max(h.requests), 0) as busiest
        from livewell.sample_allowance as a
        left join livewell.quota_hour as h on h.provider = a.provider and h.hour between a.hour and v_hour
        group by a.provider, a.requests
    ) as u
    where u.provider = a.provider and a.hour <= v_hour;
end $function$;
