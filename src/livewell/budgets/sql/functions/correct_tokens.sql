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
        select n.name, floor(extract(epoch from c.started_at))::bigint as second, sum(c.tokens - c.reserved_tokens) as difference
        from unnest(p_calls) as c
        cross join lateral (values (c.endpoint), (split_part(c.endpoint, '/', 1)), (split_part(c.endpoint, '/', 1) || '@' || (
            select k.scope from livewell_private.api_key as k where k.provider = split_part(c.endpoint, '/', 1) and k.name = c.api_key
        ))) as n (name)
        where c.tokens <> c.reserved_tokens and n.name in (
            select l.name from livewell_private.limits as l where coalesce(l.tokens_per_minute, l.tokens_per_hour) is not null
        )
        group by 1, 2
    loop
        update livewell_private.limit_use as u
        set minute_tokens[72 - (u.minute_slot - v_slot.second)]
            = greatest(0, u.minute_tokens[72 - (u.minute_slot - v_slot.second)] + v_slot.difference)
        where u.name = v_slot.name and v_slot.second between u.minute_slot - 71 and u.minute_slot;
        update livewell_private.limit_use as u
        set hour_tokens[62 - (u.hour_slot - v_slot.second / 60)]
            = greatest(0, u.hour_tokens[62 - (u.hour_slot - v_slot.second / 60)] + v_slot.difference)
        where u.name = v_slot.name and v_slot.second / 60 between u.hour_slot - 61 and u.hour_slot;
    end loop;
end $$;
