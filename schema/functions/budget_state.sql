-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.budget_state(p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(name text, kind text, provider text, state text, requests_per_minute integer, requests_last_minute integer, requests_per_hour integer, requests_last_hour integer, tokens_per_minute integer, tokens_last_minute bigint, tokens_per_hour integer, tokens_last_hour bigint, concurrent integer, in_flight integer, waiting integer, learned jsonb, opens_at timestamp with time zone, closed_reason text, breaker text, breaker_until timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_epoch constant double precision := extract(epoch from p_now);
    v_providers constant text[] := array(select p.name from livewell.provider as p);
    v_in_flight constant livewell.endpoint_calls[] := livewell.calls_in_flight(v_providers, p_now);
    v_waiting constant livewell.endpoint_calls[] := livewell.calls_waiting(v_providers);
begin
    return query
    select
        l.name, l.kind, l.provider, l.state, l.requests_per_minute,
        coalesce((select sum(x) from unnest(u.minute_requests[w.first_second:]) as x), 0)::integer, l.requests_per_hour,
        coalesce((select sum(x) from unnest(u.hour_requests[w.first_minute:]) as x), 0)::integer, l.tokens_per_minute,
        coalesce((select sum(x) from unnest(u.minute_tokens[w.first_second:]) as x), 0), l.tokens_per_hour,
        coalesce((select sum(x) from unnest(u.hour_tokens[w.first_minute:]) as x), 0), l.concurrent,
        (
            select coalesce(sum(f.calls), 0) from unnest(v_in_flight) as f
            where l.name in (f.endpoint, f.provider, f.key_limit)
        )::integer,
        (
            select coalesce(sum(w.calls), 0) from unnest(v_waiting) as w
            where w.endpoint = l.name or (l.kind = 'account' and w.provider = l.provider)
        )::integer,
        nullif(jsonb_strip_nulls(jsonb_build_object(
            'requests_per_minute', u.learned_per_minute, 'requests_per_hour', u.learned_per_hour,
            'tokens_per_minute', u.learned_tokens_per_minute, 'tokens_per_hour', u.learned_tokens_per_hour,
            'remaining', case when u.remaining_until > p_now then u.remaining end
        )), '{}'),
        case when u.next_allowed_at > p_now then nullif(u.next_allowed_at, 'infinity') end,
        case when u.closed_until > p_now then u.closed_reason end, u.breaker, u.breaker_until
    from livewell.limits as l
    join livewell.limit_use as u on u.name = l.name
    cross join lateral (
        select livewell.ring_start(u.minute_requests, u.minute_slot, floor(v_epoch)::bigint, 60) as first_second,
            livewell.ring_start(u.hour_requests, u.hour_slot, floor(v_epoch / 60)::bigint, 60) as first_minute
    ) as w
    order by l.name;
end $function$;

grant execute on function livewell.budget_state(timestamp with time zone) to livewell_service;
