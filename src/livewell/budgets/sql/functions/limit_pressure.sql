-- How near an endpoint or its account is to a limit: the largest used share of those it has, 0 if it has none. An unlocked
-- look, good enough to slow down by.
-- for: internal
create or replace function livewell.limit_pressure(p_endpoint text, p_now timestamptz) returns double precision
language plpgsql stable security definer
set search_path = '' as $$
begin
    return (
        select coalesce(max(greatest(
            (l.requests_per_minute - r.requests) / l.requests_per_minute::double precision,
            (l.tokens_per_minute - r.tokens) / l.tokens_per_minute::double precision,
            case when r.requests = 0 then 1 end
        )), 0)
        from livewell.limit_rooms(
            array[p_endpoint, split_part(p_endpoint, '/', 1)], livewell.flights(array[split_part(p_endpoint, '/', 1)], p_now), p_now
        ) as r
        join livewell.limits as l on l.name = r.name
    );
end $$;
