-- Draws on some headroom: windows, quotas, the count of each key. The caller holds the locks.
-- for: internal
create or replace function livewell_private.spend_budgets(
    p_headroom livewell_private.headroom, p_spending livewell_private.spending[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.debit_limits(p_headroom.limits, p_spending, p_now);
    if p_headroom.quotas is not null then
        perform livewell_private.draw_on_quotas(p_headroom.quotas, p_spending, p_now);
    end if;
    if p_headroom.has_keys then
        update livewell_private.api_key as k set granted = k.granted + s.requests
        from (
            select s.provider, s.api_key, sum(s.requests)::bigint as requests from unnest(p_spending) as s group by s.provider, s.api_key
        ) as s
        where k.provider = s.provider and k.name = s.api_key;
    end if;
end $$;
