-- The lanes with what each may still spend and take; those that may spend nothing are left out, null when none is left.
-- for: internal
create or replace function livewell_private.lanes_within_budget(
    p_lanes livewell_private.open_lane[], p_rooms livewell_private.budget_rooms, p_taken tid[]
) returns livewell_private.open_lane[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(row (
            l.lane_id, l.kind, l.queue_group, l.share, t.room, l.endpoint, least(r.calls, 1000000) * l.per_request, b.bytes,
            r.tokens, q.bytes, case when q.low then 0 end, l.per_request
        )::livewell_private.open_lane)
        from unnest(p_lanes) as l
        left join livewell_private.endpoint as e on e.name = l.endpoint
        left join livewell.estimates as s on s.endpoint = l.endpoint and s.subject = l.kind
        left join unnest(p_rooms.providers, p_rooms.bytes, p_rooms.low) as q (provider, bytes, low) on q.provider = e.provider
        cross join lateral (
            select least(min(r.requests) filter (where r.kind <> 'keys'), case
                    when bool_or(r.kind = 'keys') and not bool_or(r.kind = 'keys' and r.requests is null)
                        then sum(r.requests) filter (where r.kind = 'keys')
                end)::integer as calls,
                min(r.tokens) filter (where r.kind <> 'keys') as tokens
            from unnest(p_rooms.names, p_rooms.kinds, p_rooms.requests, p_rooms.tokens) as r (name, kind, requests, tokens)
            where r.name in (l.endpoint, e.provider) or (r.kind = 'keys' and split_part(r.name, '@', 1) = e.provider)
        ) as r
        cross join lateral (
            select l.room - case when p_taken is null then 0 else (
                select count(*)::integer from livewell_private.job_live as j where j.ctid = any (p_taken) and j.kind = l.kind
            ) end as room
        ) as t
        -- Where the endpoint expects its cap, nothing less is ever reserved.
        cross join lateral (
            select case when e.expected_bytes = e.max_bytes then e.max_bytes else coalesce(s.bytes_upper, e.expected_bytes) end as bytes
        ) as b
        where t.room > 0 and (l.endpoint is null or (r.calls > 0 and r.tokens > 0 and q.bytes > 0) is not false)
    );
end $$;
