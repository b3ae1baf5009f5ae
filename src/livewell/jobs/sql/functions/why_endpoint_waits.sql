-- What keeps calls to an endpoint from being sent now, in words, and until when if that is known: its state or its provider's, a
-- pause, the circuit breaker, its API keys, the quota, a limit that is used up. The holder is the provider, or our own budget. No row when nothing does.
-- for: service
create or replace function livewell.why_endpoint_waits(p_endpoint text, p_now timestamptz default clock_timestamp())
returns table (reason text, until timestamptz, holder text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select h.reason, nullif(h.until, 'infinity'), case when h.rank in (7, 8) then 'budget' else 'provider' end
    from livewell.endpoints as e
    join livewell.providers as p on p.name = e.provider
    cross join lateral (
        select 1 as rank, format('provider %s is %s', p.name, case p.state when 'maintenance' then 'in maintenance' else p.state end) as reason, null::timestamptz as until
        where p.state <> 'active'
        union all
        select 2, format('endpoint %s is %s', a.name, case a.state when 'maintenance' then 'in maintenance' else a.state end), null
        from livewell.endpoints as a where a.name in (e.name, e.provider) and a.state <> 'active'
        union all
        select 3, format('%s takes no calls: %s', u.name, coalesce(u.closed_reason, 'no reason given')), u.closed_until
        from livewell_private.limit_use as u where u.name in (e.name, e.provider) and u.closed_until > p_now
        union all
        select 4, format('%s takes no calls: too many have failed (circuit breaker)', u.name), u.breaker_until
        from livewell_private.limit_use as u
        where u.name in (e.name, e.provider) and u.breaker = 'open' and u.breaker_until > p_now
        union all
        select 5, format('provider %s has no API key that is enabled', p.name), null
        where exists (select from livewell_private.api_key as k where k.provider = p.name)
            and not exists (select from livewell_private.api_key as k where k.provider = p.name and k.enabled)
        union all
        select 6, format('no API key of %s may be used now: %s', p.name, max(u.closed_reason)), min(u.closed_until)
        from livewell_private.api_key as k
        join livewell_private.limit_use as u on u.name = k.provider || '@' || k.scope
        where k.provider = p.name and k.enabled
        having bool_and(u.closed_until > p_now)
        union all
        -- When it opens is worked out only where it is used up: that is dear, and this is asked with every stale item.
        select 7, format('the quota of %s is used up', p.name),
            (select q.opens_at from livewell.quota_states(p_now) as q where q.provider = p.name)
        where p.state = 'active' and not livewell.quota_open(p.name, 0, p_now)
        union all
        select 8, format('the limits of %s have nothing left now', u.name), u.next_allowed_at
        from livewell_private.limit_use as u where u.name in (e.name, e.provider) and u.next_allowed_at > p_now
    ) as h
    where e.name = p_endpoint
    order by h.rank, h.until desc nulls last
    limit 1;
end $$;
