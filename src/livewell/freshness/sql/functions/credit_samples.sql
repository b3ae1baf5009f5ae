-- Adds to the calls each provider may spend on samples: a share of those the ledger has grown by, kept up to an hour's worth of them or
-- one call, or what was saved in quiet times would go out at once. A provider seen for the first time begins with nothing.
-- for: internal
create or replace function livewell_private.credit_samples(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_share constant double precision := livewell.setting_number('freshness.sample_share');
begin
    insert into livewell_private.sample_allowance as a (provider, hour, requests)
    select p.name, v_hour, coalesce((select h.requests from livewell_private.quota_hour as h where h.provider = p.name and h.hour = v_hour), 0)
    from livewell.providers as p
    where exists (
        select from livewell.endpoints as e join livewell_private.known_types as t on t.endpoint = e.name and t.enabled where e.provider = p.name
    ) and not exists (select from livewell_private.sample_allowance as a where a.provider = p.name)
    order by p.name
    on conflict (provider) do nothing;
    update livewell_private.sample_allowance as a
    set hour = v_hour, requests = u.this_hour, credit = case
        when v_share > 0 then least(a.credit + v_share * u.grown, greatest(1, v_share * greatest(u.grown, u.busiest))) else 0
    end
    from (
        select
            a.provider, greatest(coalesce(sum(h.requests), 0) - a.requests, 0) as grown,
            coalesce(sum(h.requests) filter (where h.hour = v_hour), 0) as this_hour, coalesce(max(h.requests), 0) as busiest
        from livewell_private.sample_allowance as a
        left join livewell_private.quota_hour as h on h.provider = a.provider and h.hour between a.hour and v_hour
        group by a.provider, a.requests
    ) as u
    where u.provider = a.provider and a.hour <= v_hour;
end $$;
