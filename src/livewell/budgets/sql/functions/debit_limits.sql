-- Writes what starts now into the windows of some limits. The caller holds the locks and has found the room.
-- for: internal
create or replace function livewell_private.debit_limits(p_rooms livewell_private.budget_rooms, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_second constant bigint := floor(extract(epoch from p_now));
    v_minute constant bigint := floor(extract(epoch from p_now) / 60);
begin
    update livewell_private.limit_use as u
    set minute_slot = greatest(u.minute_slot, v_second), hour_slot = greatest(u.hour_slot, v_minute),
        minute_requests = case when u.minute_slot >= v_second then u.minute_requests[1:71] || u.minute_requests[72] + d.requests
            else u.minute_requests[least(72, v_second - u.minute_slot) + 1:72]
                || array_fill(0, array[least(72, v_second - u.minute_slot)::integer - 1]) || d.requests end,
        minute_tokens = case when u.minute_slot >= v_second then u.minute_tokens[1:71] || u.minute_tokens[72] + d.tokens
            else u.minute_tokens[least(72, v_second - u.minute_slot) + 1:72]
                || array_fill(0, array[least(72, v_second - u.minute_slot)::integer - 1]) || d.tokens end,
        hour_requests = case when u.hour_slot >= v_minute then u.hour_requests[1:61] || u.hour_requests[62] + d.requests
            else u.hour_requests[least(62, v_minute - u.hour_slot) + 1:62]
                || array_fill(0, array[least(62, v_minute - u.hour_slot)::integer - 1]) || d.requests end,
        hour_tokens = case when u.hour_slot >= v_minute then u.hour_tokens[1:61] || u.hour_tokens[62] + d.tokens
            else u.hour_tokens[least(62, v_minute - u.hour_slot) + 1:62]
                || array_fill(0, array[least(62, v_minute - u.hour_slot)::integer - 1]) || d.tokens end,
        smooth_at = case when d.spacing is null then u.smooth_at
            else greatest(u.smooth_at, p_now) + make_interval(secs => d.requests * d.spacing) end
    from unnest(p_rooms.names, p_rooms.spent_requests::integer[], p_rooms.spent_tokens::integer[], p_rooms.spacing)
        as d (name, requests, tokens, spacing)
    where u.name = d.name and d.requests > 0;
end $$;
