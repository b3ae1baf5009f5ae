-- Spends what has been chosen of some rooms: windows, quotas, the count of each key; begins the probes of breakers. The caller
-- holds the locks.
-- for: internal
create or replace function livewell_private.spend_budgets(p_rooms livewell_private.budget_rooms, p_keys text[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.debit_limits(p_rooms, p_now);
    if 0 < any (p_rooms.spent_bytes) then
        perform livewell_private.draw_on_quotas(p_rooms, p_now);
    end if;
    if p_keys is not null then
        update livewell_private.api_key as k set granted = k.granted + u.calls
        from (
            select split_part(c.key, '@', 1) as provider, split_part(c.key, '@', 2) as name, count(*) as calls
            from unnest(p_keys) as c (key) where c.key is not null group by c.key
        ) as u
        where k.provider = u.provider and k.name = u.name;
    end if;
    if true = any (p_rooms.probing) then
        perform livewell_private.begin_probes(array(
            select s.name from unnest(p_rooms.names, p_rooms.spent_requests) as s (name, requests) where s.requests > 0
        ), p_now);
    end if;
end $$;
