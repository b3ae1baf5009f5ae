-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.rooms_now(p_names text[], p_now timestamp with time zone)
 RETURNS livewell.budget_rooms
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_rooms livewell.budget_rooms;
    v_flights constant livewell.flight[] := livewell.flights(array(
        select distinct e.provider from livewell.endpoint as e where e.name = any (p_names)
    ), p_now);
begin
    select array_agg(r.name), array_agg(r.kind), array_agg(r.requests), array_agg(r.tokens), array_agg(r.opens_at),
        array_fill(0::bigint, array[count(*)::integer]), array_fill(0::bigint, array[count(*)::integer]), array_agg(distinct r.provider)
    into v_rooms.names, v_rooms.kinds, v_rooms.requests, v_rooms.tokens, v_rooms.opens, v_rooms.spent_requests,
        v_rooms.spent_tokens, v_rooms.providers
    from livewell.limit_rooms(p_names, v_flights, p_now) as r;
    select array_agg(q.provider), array_agg(q.room), array_agg(q.low), array_fill(0::bigint, array[count(*)::integer])
    into v_rooms.providers, v_rooms.bytes, v_rooms.low, v_rooms.spent_bytes
    from livewell.quota_rooms(v_rooms.providers, v_flights, p_now) as q;
    return v_rooms;
end $function$;
