-- The room that is left when jobs that sum up so by lane are taken together; null when they do not fit.
-- for: internal
create or replace function livewell_private.rooms_after(
    p_lane_ids integer[], p_calls bigint[], p_tokens bigint[], p_bytes bigint[], p_unsized bigint[],
    p_lanes livewell_private.open_lane[], p_rooms livewell_private.budget_rooms
) returns livewell_private.budget_rooms
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_rooms livewell_private.budget_rooms := p_rooms;
    v_endpoints text[];
    v_providers text[];
    v_bytes bigint[];
begin
    select array_agg(l.endpoint order by s.at), array_agg(split_part(l.endpoint, '/', 1) order by s.at),
        array_agg(s.bytes + s.unsized * coalesce(l.call_bytes, 0) order by s.at)
    into v_endpoints, v_providers, v_bytes
    from unnest(p_lane_ids, p_bytes, p_unsized) with ordinality as s (lane_id, bytes, unsized, at)
    join unnest(p_lanes) as l on l.lane_id = s.lane_id;
    select array_agg(r.requests - d.calls order by r.at), array_agg(r.tokens - d.tokens order by r.at),
        array_agg(r.spent_requests + d.calls order by r.at), array_agg(r.spent_tokens + d.tokens order by r.at)
    into v_rooms.requests, v_rooms.tokens, v_rooms.spent_requests, v_rooms.spent_tokens
    from unnest(p_rooms.names, p_rooms.requests, p_rooms.tokens, p_rooms.spent_requests, p_rooms.spent_tokens) with ordinality
        as r (name, requests, tokens, spent_requests, spent_tokens, at)
    cross join lateral (
        select coalesce(sum(a.calls), 0)::bigint as calls, coalesce(sum(a.tokens), 0)::bigint as tokens
        from unnest(v_endpoints, v_providers, p_calls, p_tokens) as a (endpoint, provider, calls, tokens)
        where a.endpoint = r.name or a.provider = r.name
    ) as d;
    if p_rooms.providers is not null then
        select array_agg(r.bytes - d.bytes order by r.at), array_agg(r.spent_bytes + d.bytes order by r.at)
        into v_rooms.bytes, v_rooms.spent_bytes
        from unnest(p_rooms.providers, p_rooms.bytes, p_rooms.spent_bytes) with ordinality as r (provider, bytes, spent_bytes, at)
        cross join lateral (
            select coalesce(sum(a.bytes), 0)::bigint as bytes from unnest(v_providers, v_bytes) as a (provider, bytes)
            where a.provider = r.provider
        ) as d;
    end if;
    if 0 > any (v_rooms.requests) or 0 > any (v_rooms.tokens) or 0 > any (v_rooms.bytes) then
        return null;
    end if;
    return v_rooms;
end $$;
