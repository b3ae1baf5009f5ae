-- Writes what starts now into the windows of some limits. The caller holds the locks and has found the room.
-- for: internal
create or replace function livewell.debit_limits(p_names text[], p_requests bigint[], p_tokens bigint[], p_now timestamptz)
returns void
language plpgsql security definer
set search_path = '' as $$
declare
    v_epoch constant double precision := extract(epoch from p_now);
begin
    update livewell.limit_use as u
    set minute_slot = u.minute_slot + s.minutes, hour_slot = u.hour_slot + s.hours,
        minute_requests = case when s.minutes = 0 then u.minute_requests[1:71] || u.minute_requests[72] + d.requests::integer
            else u.minute_requests[s.ago + 1:72] || array_fill(0, array[s.ago - 1]) || d.requests::integer end,
        minute_tokens = case when s.minutes = 0 then u.minute_tokens[1:71] || u.minute_tokens[72] + d.tokens::integer
            else u.minute_tokens[s.ago + 1:72] || array_fill(0, array[s.ago - 1]) || d.tokens::integer end,
        hour_requests = case when s.hours = 0 then u.hour_requests[1:61] || u.hour_requests[62] + d.requests::integer
            else u.hour_requests[s.hours_ago + 1:62] || array_fill(0, array[s.hours_ago - 1]) || d.requests::integer end,
        hour_tokens = case when s.hours = 0 then u.hour_tokens[1:61] || u.hour_tokens[62] + d.tokens::integer
            else u.hour_tokens[s.hours_ago + 1:62] || array_fill(0, array[s.hours_ago - 1]) || d.tokens::integer end,
        smooth_at = case when l.limiter = 'smooth' then greatest(u.smooth_at, p_now) + make_interval(secs => d.requests * coalesce(greatest(
            (61 + ceil(extract(epoch from l.send_within))) / l.requests_per_minute::double precision,
            3720 / l.requests_per_hour::double precision
        ), 0)) else u.smooth_at end
    from unnest(p_names, p_requests, p_tokens) as d (name, requests, tokens)
    join livewell.limits as l on l.name = d.name
    join livewell.limit_use as o on o.name = d.name
    cross join lateral (
        select greatest(0, floor(v_epoch)::bigint - o.minute_slot) as minutes,
            greatest(0, floor(v_epoch / 60)::bigint - o.hour_slot) as hours
    ) as n
    cross join lateral (
        select n.minutes, n.hours, least(72, n.minutes)::integer as ago, least(62, n.hours)::integer as hours_ago
    ) as s
    where u.name = d.name and d.requests > 0;
end $$;
