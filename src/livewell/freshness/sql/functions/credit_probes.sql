-- Adds to what each provider may spend on probes: a share of the bytes the ledger has grown by, kept up to an hour's worth of the
-- last one, or what was saved in quiet times would go out at once. A provider seen for the first time begins with nothing.
-- for: internal
create or replace function livewell.credit_probes(p_now timestamptz) returns void
language plpgsql security definer
set search_path = '' as $$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_share constant double precision := livewell.setting_number('freshness.probe_share');
begin
    insert into livewell.probe_credit as c (provider, hour, bytes)
    select p.name, v_hour, coalesce((select h.bytes from livewell.quota_hour as h where h.provider = p.name and h.hour = v_hour), 0)
    from livewell.provider as p
    where exists (
        select from livewell.endpoint as e join livewell.data_type as t on t.endpoint = e.name and t.enabled where e.provider = p.name
    ) and not exists (select from livewell.probe_credit as c where c.provider = p.name)
    order by p.name
    on conflict (provider) do nothing;
    update livewell.probe_credit as c
    set hour = v_hour, bytes = u.this_hour,
        credit = least(greatest(c.credit, 0), v_share * greatest(u.grown, u.last_hour)) + least(c.credit, 0) + v_share * u.grown
    from (
        select
            c.provider, coalesce(sum(h.bytes), 0) - c.bytes as grown, coalesce(sum(h.bytes) filter (where h.hour = v_hour), 0) as this_hour,
            coalesce(max(h.bytes), 0) as last_hour
        from livewell.probe_credit as c
        left join livewell.quota_hour as h on h.provider = c.provider and h.hour between c.hour and v_hour
        group by c.provider, c.bytes
    ) as u
    where u.provider = c.provider and c.hour <= v_hour;
end $$;
