-- Of some limits: when each opens if it has no room, why it has none, and which share of its windows is used. Asked where
-- limit_rooms has found no room, and by people; counts as it does.
-- for: internal
create or replace function livewell_private.limit_openings(p_names text[], p_flights livewell_private.flight[], p_now timestamptz)
returns table (
    name text, kind text, opens_at timestamptz, reason text, share double precision
)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_epoch constant double precision := extract(epoch from p_now);
begin
    return query
    with used as (
        select
            l.*, u.smooth_at, u.closed_until, u.breaker, u.breaker_until, u.remaining, u.remaining_until, u.minute_slot, u.hour_slot,
            u.minute_requests, u.hour_requests, w.slots, w.first_minute, w.first_hour,
            coalesce((select sum(x) from unnest(u.minute_requests[w.first_minute:]) as x), 0) as minute_used,
            case when l.requests_per_hour is not null
                then coalesce((select sum(x) from unnest(u.hour_requests[w.first_hour:]) as x), 0) end as hour_used,
            case when l.tokens_per_minute is not null
                then coalesce((select sum(x) from unnest(u.minute_tokens[w.first_minute:]) as x), 0) end as minute_tokens_used,
            case when l.tokens_per_hour is not null
                then coalesce((select sum(x) from unnest(u.hour_tokens[w.first_hour:]) as x), 0) end as hour_tokens_used,
            case when u.remaining_until > p_now
                then coalesce((select sum(x) from unnest(u.minute_requests[greatest(1, 72 - u.minute_slot + u.remaining_since):]) as x), 0)
            end as since_remaining,
            (
                select coalesce(sum(f.calls), 0) from unnest(p_flights) as f
                where case l.kind
                    when 'endpoint' then f.endpoint = l.name
                    when 'account' then f.provider = l.provider
                    else f.provider = l.provider and f.api_key in (
                        select k.name from livewell_private.api_key as k
                        where k.provider = l.provider and l.name = k.provider || '@' || k.scope
                    )
                end
            ) as in_flight,
            greatest(w.slots / l.requests_per_minute::double precision, 3720 / l.requests_per_hour::double precision) as spacing,
            greatest(1, ceil(0.1 * coalesce(l.requests_per_minute, l.requests_per_hour))) as burst
        from livewell_private.limits as l
        join livewell_private.limit_use as u on u.name = l.name
        cross join lateral (
            select 61 + ceil(extract(epoch from l.send_within))::integer as slots
        ) as s
        cross join lateral (
            select s.slots,
                (73 - s.slots + greatest(0, least(72, floor(v_epoch)::bigint - u.minute_slot)))::integer as first_minute,
                (1 + greatest(0, least(62, floor(v_epoch / 60)::bigint - u.hour_slot)))::integer as first_hour
        ) as w
        where l.name = any (p_names)
    ),
    rooms as (
        select
            r.*,
            case when r.limiter = 'smooth' and r.spacing is not null
                then floor(r.burst - extract(epoch from greatest(r.smooth_at, p_now) - p_now) / r.spacing + 1e-6)
            end as smooth_room
        from used as r
    )
    select
        r.name, r.kind,
        case
            when r.state <> 'active' then null
            else greatest(
                case when r.closed_until > p_now then r.closed_until end,
                case when r.breaker = 'open' and r.breaker_until > p_now then r.breaker_until end,
                case when r.minute_used >= r.requests_per_minute then (
                    select to_timestamp(r.minute_slot - 72 + max(s.at) + r.slots)
                    from (
                        select g.at, sum(r.minute_requests[g.at]) over (order by g.at desc) as still_used
                        from generate_series(r.first_minute, 72) as g (at)
                    ) as s
                    where s.still_used >= r.requests_per_minute
                ) end,
                case when r.hour_used >= r.requests_per_hour then (
                    select to_timestamp(60 * (r.hour_slot - 62 + max(s.at) + 62))
                    from (
                        select g.at, sum(r.hour_requests[g.at]) over (order by g.at desc) as still_used
                        from generate_series(r.first_hour, 62) as g (at)
                    ) as s
                    where s.still_used >= r.requests_per_hour
                ) end,
                case when r.smooth_room < 1 then r.smooth_at - make_interval(secs => (r.burst - 1) * r.spacing) end,
                case when r.remaining <= r.since_remaining then r.remaining_until end
            )
        end,
        case
            when r.state <> 'active' then r.state
            when r.closed_until > p_now then 'closed'
            when r.breaker = 'open' and r.breaker_until > p_now then 'breaker'
            when r.concurrent <= r.in_flight then 'concurrent'
            when r.breaker <> 'closed' and r.breaker_probes <= r.in_flight then 'breaker'
            else 'requests'
        end,
        case
            when r.closed_until > p_now or (r.breaker = 'open' and r.breaker_until > p_now) then 1
            else greatest(
                r.minute_used / r.requests_per_minute::double precision, r.hour_used / r.requests_per_hour::double precision,
                r.minute_tokens_used / r.tokens_per_minute::double precision, r.hour_tokens_used / r.tokens_per_hour::double precision
            )
        end
    from rooms as r;
end $$;
