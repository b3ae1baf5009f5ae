-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.rooms_after(p_found tid[], p_lanes livewell.open_lane[], p_rooms livewell.budget_rooms)
 RETURNS livewell.budget_rooms
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_rooms livewell.budget_rooms := p_rooms;
    v_endpoints text[];
    v_calls bigint[];
    v_tokens bigint[];
    v_bytes bigint[];
begin
    select array_agg(a.endpoint), array_agg(a.calls), array_agg(a.tokens), array_agg(a.bytes)
    into v_endpoints, v_calls, v_tokens, v_bytes
    from (
        select l.endpoint, sum(c.calls)::bigint as calls, sum(c.tokens)::bigint as tokens,
            sum(c.bytes + c.calls_unknown * l.call_bytes)::bigint as bytes
        from (
            select j.lane_id, count(*) as calls, sum(j.estimated_tokens) as tokens, coalesce(sum(j.estimated_bytes), 0) as bytes,
                count(*) - count(j.estimated_bytes) as calls_unknown
            from livewell.job_live as j where j.ctid = any (p_found)
            group by j.lane_id
        ) as c
        join unnest(p_lanes) as l on l.lane_id = c.lane_id
        where l.endpoint is not null
        group by l.endpoint
    ) as a;
    select array_agg(r.requests - d.calls order by r.at), array_agg(r.tokens - d.tokens order by r.at),
        array_agg(r.spent_requests + d.calls order by r.at), array_agg(r.spent_tokens + d.tokens order by r.at)
    into v_rooms.requests, v_rooms.tokens, v_rooms.spent_requests, v_rooms.spent_tokens
    from unnest(p_rooms.names, p_rooms.requests, p_rooms.tokens, p_rooms.spent_requests, p_rooms.spent_tokens) with ordinality
        as r (name, requests, tokens, spent_requests, spent_tokens, at)
    cross join lateral (
        select coalesce(sum(a.calls), 0) as calls, coalesce(sum(a.tokens), 0) as tokens
        from unnest(v_endpoints, v_calls, v_tokens) as a (endpoint, calls, tokens)
        where a.endpoint = r.name or split_part(a.endpoint, '/', 1) = r.name
    ) as d;
    if p_rooms.providers is not null then
        select array_agg(r.bytes - d.bytes order by r.at), array_agg(r.spent_bytes + d.bytes order by r.at)
        into v_rooms.bytes, v_rooms.spent_bytes
        from unnest(p_rooms.providers, p_rooms.bytes, p_rooms.spent_bytes) with ordinality as r (provider, bytes, spent_bytes, at)
        cross join lateral (
            select coalesce(sum(a.bytes), 0) as bytes from unnest(v_endpoints, v_bytes) as a (endpoint, bytes)
            where split_part(a.endpoint, '/', 1) = r.provider
        ) as d;
    end if;
    if 0 > any (v_rooms.requests) or 0 > any (v_rooms.tokens) or 0 > any (v_rooms.bytes) then
        return null;
    end if;
    return v_rooms;
end $function$;
