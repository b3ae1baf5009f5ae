-- Every limit as people see it: how much of it is used, in flight and waiting, and when it opens if it is closed.
-- for: service
create or replace function livewell.budget_state(p_now timestamptz default clock_timestamp())
returns table (
    name text, kind text, provider text, state text, requests_per_minute integer, requests_last_minute integer,
    requests_per_hour integer, requests_last_hour integer, tokens_per_minute integer, tokens_last_minute bigint,
    tokens_per_hour integer, tokens_last_hour bigint, concurrent integer, in_flight integer, waiting integer, learned jsonb,
    opens_at timestamptz, closed_reason text, breaker text, breaker_until timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_epoch constant double precision := extract(epoch from p_now);
    v_providers constant text[] := array(select p.name from livewell_private.provider as p);
    v_in_flight constant livewell_private.endpoint_calls[] := livewell_private.calls_in_flight(v_providers, p_now);
    v_waiting constant livewell_private.endpoint_calls[] := livewell_private.calls_waiting(v_providers);
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
    from livewell_private.limits as l
    join livewell_private.limit_use as u on u.name = l.name
    cross join lateral (
        select livewell_private.ring_start(u.minute_requests, u.minute_slot, floor(v_epoch)::bigint, 60) as first_second,
            livewell_private.ring_start(u.hour_requests, u.hour_slot, floor(v_epoch / 60)::bigint, 60) as first_minute
    ) as w
    order by l.name;
end $$;
