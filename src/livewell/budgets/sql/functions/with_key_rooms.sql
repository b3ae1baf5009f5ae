-- Rooms with those of the limits that keys share, counted as limit_rooms counts those of endpoints.
-- for: internal
create or replace function livewell_private.with_key_rooms(
    p_rooms livewell_private.budget_rooms, p_names text[], p_flights livewell_private.flight[], p_now timestamptz
) returns livewell_private.budget_rooms
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_rooms livewell_private.budget_rooms := p_rooms;
    v_second constant bigint := floor(extract(epoch from p_now));
    v_minute constant bigint := floor(extract(epoch from p_now) / 60);
begin
    select
        v_rooms.names || array_agg(l.name), v_rooms.kinds || array_agg(l.kind),
        v_rooms.requests || array_agg(case when u.closed_until > p_now then 0 else least(
            l.requests_per_minute - (select coalesce(sum(x), 0) from unnest(u.minute_requests[w.first_minute:]) as x),
            l.requests_per_hour - (select coalesce(sum(x), 0) from unnest(u.hour_requests[w.first_hour:]) as x),
            l.concurrent - f.in_flight,
            case when u.remaining_until > p_now then u.remaining - (
                select coalesce(sum(x), 0) from unnest(u.minute_requests[greatest(1, 72 - u.minute_slot + u.remaining_since):]) as x
            ) end
        )::bigint end),
        v_rooms.tokens || array_agg(least(
            l.tokens_per_minute - (select coalesce(sum(x), 0) from unnest(u.minute_tokens[w.first_minute:]) as x),
            l.tokens_per_hour - (select coalesce(sum(x), 0) from unnest(u.hour_tokens[w.first_hour:]) as x)
        )::bigint),
        v_rooms.spacing || array_agg(null::double precision), v_rooms.probing || array_agg(false)
    into v_rooms.names, v_rooms.kinds, v_rooms.requests, v_rooms.tokens, v_rooms.spacing, v_rooms.probing
    from livewell_private.limits as l
    join livewell_private.limit_use as u on u.name = l.name
    cross join lateral (
        select (12 - ceil(extract(epoch from l.send_within)) + greatest(0, least(72, v_second - u.minute_slot)))::integer as first_minute,
            (1 + greatest(0, least(62, v_minute - u.hour_slot)))::integer as first_hour
    ) as w
    cross join lateral (
        select coalesce(sum(f.calls), 0) as in_flight from unnest(p_flights) as f
        where f.provider = l.provider and f.api_key in (
            select k.name from livewell_private.api_key as k where k.provider = l.provider and l.name = k.provider || '@' || k.scope
        )
    ) as f
    where l.kind = 'keys' and l.name = any (p_names);
    return v_rooms;
end $$;
