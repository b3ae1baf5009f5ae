-- Puts the tokens really used in place of those reserved, in the windows of the time they were reserved. The caller holds the
-- locks.
-- for: internal
create or replace function livewell_private.correct_tokens(p_calls livewell_private.spent_call[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_slot record;
begin
    -- One slot of one limit at a time: an array has no set of elements to update. Few: only where tokens are counted.
    for v_slot in
        select n.name, floor(extract(epoch from c.started_at))::bigint as second,
            floor(extract(epoch from c.started_at) / 60)::bigint as minute, sum(c.tokens - c.reserved_tokens) as difference
        from unnest(p_calls) as c
        cross join lateral (values (c.endpoint), (split_part(c.endpoint, '/', 1)), (split_part(c.endpoint, '/', 1) || '@' || (
            select k.scope from livewell_private.api_key as k where k.provider = split_part(c.endpoint, '/', 1) and k.name = c.api_key
        ))) as n (name)
        where c.tokens <> c.reserved_tokens and n.name in (
            select l.name from livewell_private.limits as l where coalesce(l.tokens_per_minute, l.tokens_per_hour) is not null
        )
        group by 1, 2, 3
    loop
        update livewell_private.limit_use as u
        set minute_tokens[livewell_private.ring_place(u.minute_tokens, u.minute_slot, v_slot.second)]
            = greatest(0, u.minute_tokens[livewell_private.ring_place(u.minute_tokens, u.minute_slot, v_slot.second)] + v_slot.difference)
        where u.name = v_slot.name and v_slot.second <= u.minute_slot and v_slot.second > u.minute_slot - cardinality(u.minute_tokens);
        update livewell_private.limit_use as u
        set hour_tokens[livewell_private.ring_place(u.hour_tokens, u.hour_slot, v_slot.minute)]
            = greatest(0, u.hour_tokens[livewell_private.ring_place(u.hour_tokens, u.hour_slot, v_slot.minute)] + v_slot.difference)
        where u.name = v_slot.name and v_slot.minute <= u.hour_slot and v_slot.minute > u.hour_slot - cardinality(u.hour_tokens);
    end loop;
end $$;
