-- What may start now under some limits; where nothing may, also when they open again and why they are closed. Whoever grants holds
-- the locks. A window is counted with what may still be sent from before it, and its oldest slot whole, so that no window of
-- the limit's length is exceeded, wherever it begins, at the provider's side either.
-- for: internal
create or replace function livewell_private.limits_now(
    p_names text[], p_in_flight livewell_private.endpoint_calls[], p_now timestamptz
) returns livewell_private.limit_headroom[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_second constant bigint := floor(extract(epoch from p_now));
    v_minute constant bigint := floor(extract(epoch from p_now) / 60);
begin
    return (
        with counted as materialized (
            select
                l.name, l.kind, l.provider, l.state, l.limiter, l.concurrent, l.requests_per_minute, l.requests_per_hour, l.tokens_per_minute,
                l.tokens_per_hour, w.*, u.minute_slot, u.minute_requests, u.hour_slot, u.hour_requests, u.smooth_at, u.breaker,
                (select coalesce(sum(x), 0) from (select unnest(u.minute_requests[w.first_second:]) as x) as s) as requests_in_minute,
                case when l.requests_per_hour is not null
                    then (select coalesce(sum(x), 0) from (select unnest(u.hour_requests[w.first_minute:]) as x) as s)
                end as requests_in_hour,
                case when l.tokens_per_minute is not null
                    then (select coalesce(sum(x), 0) from (select unnest(u.minute_tokens[w.first_second:]) as x) as s)
                end as tokens_in_minute,
                case when l.tokens_per_hour is not null
                    then (select coalesce(sum(x), 0) from (select unnest(u.hour_tokens[w.first_minute:]) as x) as s)
                end as tokens_in_hour,
                (
                    select coalesce(sum(f.calls), 0)::bigint
                    from unnest(p_in_flight) as f where l.name in (f.endpoint, f.provider, f.key_limit)
                ) as in_flight,
                case when u.breaker <> 'closed' then l.breaker_trials end as trials,
                case when u.remaining_until > p_now then u.remaining - (
                    select coalesce(sum(x), 0) from (
                        select unnest(u.minute_requests[livewell_private.ring_place(u.minute_requests, u.minute_slot, u.remaining_since):]) as x
                    ) as s
                ) end as remaining, u.remaining_until,
                case when u.closed_until > p_now then u.closed_until end as closed_until,
                case when u.breaker = 'open' and u.breaker_until > p_now then u.breaker_until end as breaker_until
            from livewell_private.limits as l
            join livewell_private.limit_use as u on u.name = l.name
            cross join lateral (
                select livewell_private.seconds_counted(l.send_within) as seconds_counted,
                    livewell_private.ring_start(u.minute_requests, u.minute_slot, v_second, livewell_private.seconds_counted(l.send_within)) as first_second,
                    livewell_private.ring_start(u.hour_requests, u.hour_slot, v_minute, cardinality(u.hour_requests)) as first_minute
                offset 0 -- so that it is worked out once
            ) as w
            where l.name = any (p_names)
        )
        select array_agg(h::livewell_private.limit_headroom)
        from (
            select
                c.name, c.kind, c.provider, r.requests, case when t.tokens < 0 then 0 else t.tokens end as tokens,
                case when c.limiter = 'smooth' then s.spacing end as spacing, c.breaker = 'open' as starts_trial,
                case when r.requests = 0 and c.state = 'active' then greatest(
                    c.closed_until, c.breaker_until,
                    case when c.requests_in_minute >= c.requests_per_minute then to_timestamp(
                        c.minute_slot + c.seconds_counted - livewell_private.ring_age(c.minute_requests, c.requests_per_minute)
                    ) end,
                    case when c.requests_in_hour >= c.requests_per_hour then to_timestamp(
                        60 * (c.hour_slot + cardinality(c.hour_requests) - livewell_private.ring_age(c.hour_requests, c.requests_per_hour))
                    ) end,
                    case when s.requests < 1 then c.smooth_at - make_interval(secs => (s.burst - 1) * s.spacing) end,
                    case when c.remaining <= 0 then c.remaining_until end
                ) end as opens_at,
                case
                    when r.requests > 0 or r.requests is null then null
                    when c.state <> 'active' then c.state
                    when c.closed_until is not null then 'closed'
                    when c.breaker_until is not null then 'breaker'
                    when c.concurrent <= c.in_flight then 'concurrent'
                    when c.trials <= c.in_flight then 'breaker'
                    else 'requests'
                end as reason,
                case
                    when c.closed_until is not null or c.breaker_until is not null then 1
                    else greatest(
                        c.requests_in_minute / c.requests_per_minute::double precision, c.requests_in_hour / c.requests_per_hour::double precision,
                        c.tokens_in_minute / c.tokens_per_minute::double precision, c.tokens_in_hour / c.tokens_per_hour::double precision
                    )
                end as used_share
            from counted as c
            cross join lateral (
                select
                    greatest(
                        c.seconds_counted / c.requests_per_minute::double precision,
                        60 * cardinality(c.hour_requests) / c.requests_per_hour::double precision
                    ) as spacing,
                    greatest(1, ceil(0.1 * coalesce(c.requests_per_minute, c.requests_per_hour))) as burst
            ) as b
            cross join lateral (
                select b.spacing, b.burst, case when c.limiter = 'smooth' then
                    floor(b.burst - extract(epoch from greatest(c.smooth_at, p_now) - p_now) / b.spacing + 1e-6)
                end as requests
            ) as s
            cross join lateral (
                select least(c.tokens_per_minute - c.tokens_in_minute, c.tokens_per_hour - c.tokens_in_hour) as tokens
            ) as t
            -- Less than nothing is left where a limit was lowered.
            cross join lateral (
                select case when c.state <> 'active' or c.closed_until is not null or c.breaker_until is not null or n.requests < 0
                    then 0 else n.requests end as requests
                from (
                    select least(
                        c.requests_per_minute - c.requests_in_minute, c.requests_per_hour - c.requests_in_hour,
                        c.concurrent - c.in_flight, c.trials - c.in_flight, c.remaining, s.requests
                    )::bigint as requests
                ) as n
                offset 0
            ) as r
        ) as h
    );
end $$;
