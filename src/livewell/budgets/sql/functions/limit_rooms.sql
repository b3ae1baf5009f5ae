-- How many requests and tokens may start now under each of some limits (null: any number), how far apart they are set where
-- they are (smooth), and whether they would be the probes of an open breaker.
-- The caller holds the locks. A window is counted with what may still be sent from before it, and its oldest slot whole, so
-- that no window of the limit's length is exceeded, wherever it begins, at the provider's side either.
-- Every claim and every block of permits asks this, so it reads only what decides; when a limit opens again is another
-- question (limit_openings), and keys are looked at only where a provider has some.
-- for: internal
create or replace function livewell_private.limit_rooms(p_names text[], p_flights livewell_private.flight[], p_now timestamptz)
returns livewell_private.budget_rooms
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_rooms livewell_private.budget_rooms;
    v_second constant bigint := floor(extract(epoch from p_now));
    v_minute constant bigint := floor(extract(epoch from p_now) / 60);
begin
    select
        array_agg(l.name), array_agg(case when l.name = l.provider then 'account' else 'endpoint' end),
        array_agg(case
            when l.state <> 'active' or p.state <> 'active' or u.closed_until > p_now
                or (u.breaker = 'open' and u.breaker_until > p_now) then 0
            else least(
                w.requests_per_minute - (select coalesce(sum(x), 0) from (select unnest(u.minute_requests[w.first_minute:]) as x) as s),
                case when w.requests_per_hour is not null
                    then w.requests_per_hour - (select coalesce(sum(x), 0) from (select unnest(u.hour_requests[w.first_hour:]) as x) as s)
                end,
                l.concurrent - f.in_flight, case when u.breaker <> 'closed' then l.breaker_probes - f.in_flight end,
                case when u.remaining_until > p_now then u.remaining - (
                    select coalesce(sum(x), 0)
                    from (select unnest(u.minute_requests[greatest(1, 72 - u.minute_slot + u.remaining_since):]) as x) as s
                ) end,
                case when l.limiter = 'smooth' then floor(
                    greatest(1, ceil(0.1 * coalesce(w.requests_per_minute, w.requests_per_hour)))
                    - extract(epoch from greatest(u.smooth_at, p_now) - p_now) / w.spacing + 1e-6
                ) end
            )::bigint
        end),
        array_agg(least(
            case when w.tokens_per_minute is not null
                then w.tokens_per_minute - (select coalesce(sum(x), 0) from (select unnest(u.minute_tokens[w.first_minute:]) as x) as s)
            end,
            case when w.tokens_per_hour is not null
                then w.tokens_per_hour - (select coalesce(sum(x), 0) from (select unnest(u.hour_tokens[w.first_hour:]) as x) as s)
            end
        )::bigint),
        array_agg(case when l.limiter = 'smooth' then w.spacing end), array_agg(u.breaker = 'open')
    into v_rooms.names, v_rooms.kinds, v_rooms.requests, v_rooms.tokens, v_rooms.spacing, v_rooms.probing
    from livewell_private.endpoint as l
    join livewell_private.provider as p on p.name = l.provider
    join livewell_private.limit_use as u on u.name = l.name
    cross join lateral (
        select 61 + ceil(extract(epoch from l.send_within))::integer as slots,
            least(l.requests_per_minute, u.learned_per_minute) as requests_per_minute,
            least(l.requests_per_hour, u.learned_per_hour) as requests_per_hour,
            least(l.tokens_per_minute, u.learned_tokens_per_minute) as tokens_per_minute,
            least(l.tokens_per_hour, u.learned_tokens_per_hour) as tokens_per_hour
    ) as s
    cross join lateral (
        select s.*, (73 - s.slots + greatest(0, least(72, v_second - u.minute_slot)))::integer as first_minute,
            (1 + greatest(0, least(62, v_minute - u.hour_slot)))::integer as first_hour,
            greatest(s.slots / s.requests_per_minute::double precision, 3720 / s.requests_per_hour::double precision) as spacing
    ) as w
    cross join lateral (
        select coalesce(sum(f.calls), 0) as in_flight from unnest(p_flights) as f where l.name in (f.endpoint, f.provider)
    ) as f
    where l.name = any (p_names);
    if array_to_string(p_names, ' ') like '%@%' then
        v_rooms := livewell_private.with_key_rooms(v_rooms, p_names, p_flights, p_now);
    end if;
    -- Less than nothing is left where a limit was lowered.
    if 0 > any (v_rooms.requests || v_rooms.tokens) then
        v_rooms.requests := array(select case when x < 0 then 0 else x end from unnest(v_rooms.requests) as x);
        v_rooms.tokens := array(select case when x < 0 then 0 else x end from unnest(v_rooms.tokens) as x);
    end if;
    v_rooms.spent_requests := array_fill(0::bigint, array[coalesce(cardinality(v_rooms.names), 0)]);
    v_rooms.spent_tokens := v_rooms.spent_requests;
    return v_rooms;
end $$;
