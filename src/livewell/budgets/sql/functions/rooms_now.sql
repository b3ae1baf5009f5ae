-- The room under some limits and the quotas of their providers, with what is needed to spend of it. The caller holds the locks.
-- for: internal
create or replace function livewell_private.rooms_now(p_names text[], p_now timestamptz) returns livewell_private.budget_rooms
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_rooms livewell_private.budget_rooms;
    v_quota record;
    v_providers constant text[] := livewell_private.providers_of(p_names);
    v_flights constant livewell_private.flight[] := livewell_private.flights(v_providers, p_now);
begin
    v_rooms := livewell_private.limit_rooms(p_names, v_flights, p_now);
    if 0 = any (v_rooms.requests) then
        select array_agg(o.opens_at order by n.at), array_agg(o.reason order by n.at) into v_rooms.opens, v_rooms.reasons
        from unnest(v_rooms.names) with ordinality as n (name, at)
        join livewell_private.limit_openings(v_rooms.names, v_flights, p_now) as o on o.name = n.name;
    end if;
    for v_quota in select q.* from livewell_private.quota_rooms(v_providers, v_flights, p_now) as q loop
        v_rooms.providers := v_rooms.providers || v_quota.provider;
        v_rooms.bytes := v_rooms.bytes || v_quota.room;
        v_rooms.low := v_rooms.low || v_quota.low;
        v_rooms.spent_bytes := v_rooms.spent_bytes || 0::bigint;
        v_rooms.allowed := v_rooms.allowed || v_quota.allowed;
        v_rooms.used := v_rooms.used || v_quota.used;
        v_rooms.counted := v_rooms.counted || v_quota.counted;
        v_rooms.buckets := v_rooms.buckets || v_quota.bucket;
        v_rooms.returned := v_rooms.returned || v_quota.returned;
        v_rooms.levels := v_rooms.levels || v_quota.level;
    end loop;
    return v_rooms;
end $$;
