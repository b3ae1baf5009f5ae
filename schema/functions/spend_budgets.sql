-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.spend_budgets(p_rooms livewell.budget_rooms, p_keys text[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    perform livewell.debit_limits(p_rooms.names, p_rooms.spent_requests, p_rooms.spent_tokens, p_now);
    if p_rooms.providers is not null then
        perform livewell.draw_on_quotas(array_agg(s.provider), array_agg(s.bytes), p_now)
        from unnest(p_rooms.providers, p_rooms.spent_bytes) as s (provider, bytes) where s.bytes > 0
        having count(*) > 0;
    end if;
    if p_keys is not null then
        update livewell.api_key as k set granted = k.granted + u.calls
        from (
            select split_part(c.key, '@', 1) as provider, split_part(c.key, '@', 2) as name, count(*) as calls
            from unnest(p_keys) as c (key) where c.key is not null group by c.key
        ) as u
        where k.provider = u.provider and k.name = u.name;
    end if;
    if exists (
        select from livewell.limit_use as u where u.name = any (p_rooms.names) and u.breaker = 'open' and u.breaker_until <= p_now
    ) then
        perform livewell.begin_probes(array(
            select s.name from unnest(p_rooms.names, p_rooms.spent_requests) as s (name, requests) where s.requests > 0
        ), p_now);
    end if;
end $function$;
