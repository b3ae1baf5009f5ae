-- Learns from an answer's headers: a limit below ours holds at once, one above is approached slowly; what the provider says
-- remains is not passed before it resets; 429 (or 503 with a time) closes until the time it states, or for a growing while,
-- with jitter on reopening. Answers to older requests teach no limits. Answers until when it is closed now, or null.
-- for: service
create or replace function livewell.learn_limits(
    p_endpoint text, p_api_key text, p_facts jsonb, p_age_seconds double precision default 0,
    p_now timestamptz default clock_timestamp()
) returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_endpoint livewell_private.endpoint;
    v_use livewell_private.limit_use;
    v_name text;
    v_status integer := (p_facts ->> 'status')::integer;
    v_retry double precision := (p_facts ->> 'retry_after_seconds')::double precision;
    v_asked timestamptz := p_now - make_interval(secs => least(greatest(p_age_seconds, 0), 86400));
    v_wait double precision;
begin
    perform livewell_private.require_primary();
    select e.* into v_endpoint from livewell_private.endpoint as e where e.name = p_endpoint;
    if not found then
        perform livewell_private.require_endpoint(p_endpoint);
    end if;
    -- With several accounts behind the keys, it is the key's that is spent; with one it is the endpoint.
    select coalesce(max(k.provider || '@' || k.scope) filter (where k.name = p_api_key and k.scopes > 1), p_endpoint) into v_name
    from (
        select k.*, (select count(distinct o.scope) from livewell_private.api_key as o where o.provider = k.provider and o.enabled) as scopes
        from livewell_private.api_key as k where k.provider = v_endpoint.provider
    ) as k;
    select u.* into v_use from livewell_private.limit_use as u where u.name = v_name for no key update;

    if v_asked >= v_use.observed_at then
        v_use := livewell_private.learned_from(v_use, coalesce(p_facts -> 'limits', '[]'), v_asked, p_now);
        if v_status < 400 then
            v_use.throttles := 0;
        end if;
    end if;
    if v_status = 429 or (v_status = 503 and v_retry is not null) then
        if v_use.closed_until <= p_now then
            v_use.throttles := v_use.throttles + 1;
        end if;
        v_wait := coalesce(v_retry, extract(epoch from v_endpoint.retry_after) * power(2, least(v_use.throttles, 20) - 1));
        v_wait := least(greatest(v_wait, 1), extract(epoch from v_endpoint.retry_after_max));
        v_use.closed_until := greatest(
            v_use.closed_until, p_now + make_interval(secs => v_wait + random() * greatest(1, least(v_wait / 10, 30)))
        );
        v_use.closed_reason := format('HTTP %s', v_status);
        v_use.next_allowed_at := greatest(v_use.next_allowed_at, v_use.closed_until);
    end if;
    update livewell_private.limit_use as u
    set learned_per_minute = v_use.learned_per_minute, learned_per_hour = v_use.learned_per_hour,
        learned_tokens_per_minute = v_use.learned_tokens_per_minute, learned_tokens_per_hour = v_use.learned_tokens_per_hour,
        remaining = v_use.remaining, remaining_since = v_use.remaining_since, remaining_until = v_use.remaining_until,
        observed_at = v_use.observed_at, grown_at = v_use.grown_at, throttles = v_use.throttles,
        closed_until = v_use.closed_until, closed_reason = v_use.closed_reason, next_allowed_at = v_use.next_allowed_at
    where u.name = v_name and u is distinct from v_use;
    return case when v_use.closed_until > p_now then v_use.closed_until end;
end $$;
