-- Of locked jobs, those that fit the room that is left, in order of priority: all of them if they fit together and no key is
-- to be chosen, else one after the other, passing over what does not fit. One that finds a seat in a request that was opened
-- before it, now or in an earlier round, needs none of its own.
-- for: internal
create or replace function livewell_private.choose_affordable_jobs(
    p_found tid[], p_lanes livewell_private.open_lane[], p_taken livewell_private.affordable_jobs, p_shared boolean
) returns livewell_private.affordable_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_chosen livewell_private.affordable_jobs;
    v_rooms livewell_private.budget_rooms := p_taken.rooms;
    v_job record;
    v_own integer;
    v_account integer;
    v_quota integer;
    v_at integer;
    v_key text;
    v_scope text;
    v_cost integer := 1;
    v_seat integer;
    v_seat_lanes integer[];
    v_seat_keys text[];
    v_seat_scopes text[];
    v_seats integer[];
begin
    if not 'keys' = any (v_rooms.kinds) then
        select r.* into v_rooms
        from livewell_private.sum_jobs(p_found) as s
        cross join lateral livewell_private.rooms_after(
            s.lane_ids, case when p_shared then livewell_private.requests_for(s.lane_ids, s.calls, p_lanes, p_taken.places) else s.calls end,
            s.tokens, s.bytes, s.unsized, p_lanes, p_taken.rooms
        ) as r;
        if v_rooms.names is not null then
            return row (p_found, array_fill(null::text, array[cardinality(p_found)]), v_rooms)::livewell_private.affordable_jobs;
        end if;
        v_rooms := p_taken.rooms;
    end if;
    if p_shared then
        select array_agg(s.lane_id), array_agg(s.key), array_agg(s.scope), array_agg(s.seats)
        into v_seat_lanes, v_seat_keys, v_seat_scopes, v_seats
        from livewell_private.open_seats(p_taken.places, p_taken.keys, p_lanes) as s;
    end if;
    for v_job in
        select j.ctid as place, j.endpoint, split_part(j.endpoint, '/', 1) as provider, j.estimated_tokens as tokens,
            coalesce(j.estimated_bytes, l.call_bytes) as bytes, j.lane_id, l.per_request
        from livewell_private.job_live as j join unnest(p_lanes) as l on l.lane_id = j.lane_id
        where j.ctid = any (p_found)
        order by j.priority desc, j.due_at, j.id
    loop
        v_key := null;
        if v_job.endpoint is not null then
            v_own := array_position(v_rooms.names, v_job.endpoint);
            v_account := array_position(v_rooms.names, nullif(v_job.provider, v_job.endpoint));
            v_quota := array_position(v_rooms.providers, v_job.provider);
            if v_job.per_request > 1 then
                v_seat := (
                    select s.at from unnest(v_seat_lanes, v_seats) with ordinality as s (lane_id, seats, at)
                    where s.lane_id = v_job.lane_id and s.seats > 0 limit 1
                );
                v_cost := case when v_seat is null then 1 else 0 end;
            else
                v_seat := null;
                v_cost := 1;
            end if;
            continue when v_rooms.requests[v_own] < v_cost or v_rooms.requests[v_account] < v_cost
                or v_rooms.tokens[v_own] < v_job.tokens or v_rooms.tokens[v_account] < v_job.tokens
                or v_rooms.bytes[v_quota] < v_job.bytes;
            if 'keys' = any (v_rooms.kinds) then
                if v_seat is not null then
                    v_key := split_part(v_seat_keys[v_seat], '@', 2);
                    v_scope := v_seat_scopes[v_seat];
                else
                    select k.api_key, k.scope into v_key, v_scope
                    from (
                        select array_agg(r.name) as scopes, array_agg(case when r.tokens < v_job.tokens then 0 else r.requests end) as rooms,
                            array_agg(r.spent) as spent
                        from unnest(v_rooms.names, v_rooms.kinds, v_rooms.requests, v_rooms.tokens, v_rooms.spent_requests)
                            as r (name, kind, requests, tokens, spent)
                        where r.kind = 'keys' and split_part(r.name, '@', 1) = v_job.provider
                    ) as r
                    left join lateral livewell_private.choose_key(v_job.provider, r.scopes, r.rooms, r.spent) as k on true
                    where r.scopes is not null;
                    continue when found and v_key is null;
                end if;
                if v_scope is not null then
                    v_at := array_position(v_rooms.names, v_scope);
                    continue when v_rooms.tokens[v_at] < v_job.tokens;
                    v_rooms.requests[v_at] := v_rooms.requests[v_at] - v_cost;
                    v_rooms.tokens[v_at] := v_rooms.tokens[v_at] - v_job.tokens;
                    v_rooms.spent_requests[v_at] := v_rooms.spent_requests[v_at] + v_cost;
                    v_rooms.spent_tokens[v_at] := v_rooms.spent_tokens[v_at] + v_job.tokens;
                end if;
            end if;
            v_rooms.requests[v_own] := v_rooms.requests[v_own] - v_cost;
            v_rooms.tokens[v_own] := v_rooms.tokens[v_own] - v_job.tokens;
            v_rooms.spent_requests[v_own] := v_rooms.spent_requests[v_own] + v_cost;
            v_rooms.spent_tokens[v_own] := v_rooms.spent_tokens[v_own] + v_job.tokens;
            if v_account is not null then
                v_rooms.requests[v_account] := v_rooms.requests[v_account] - v_cost;
                v_rooms.tokens[v_account] := v_rooms.tokens[v_account] - v_job.tokens;
                v_rooms.spent_requests[v_account] := v_rooms.spent_requests[v_account] + v_cost;
                v_rooms.spent_tokens[v_account] := v_rooms.spent_tokens[v_account] + v_job.tokens;
            end if;
            if v_quota is not null then
                v_rooms.bytes[v_quota] := v_rooms.bytes[v_quota] - v_job.bytes;
                v_rooms.spent_bytes[v_quota] := v_rooms.spent_bytes[v_quota] + v_job.bytes;
            end if;
            if v_seat is not null then
                v_seats[v_seat] := v_seats[v_seat] - 1;
            elsif v_job.per_request > 1 then
                v_seat_lanes := v_seat_lanes || v_job.lane_id;
                v_seat_keys := v_seat_keys || (v_job.provider || '@' || v_key);
                v_seat_scopes := v_seat_scopes || v_scope;
                v_seats := v_seats || v_job.per_request - 1;
            end if;
        end if;
        v_chosen.places := v_chosen.places || v_job.place;
        v_chosen.keys := v_chosen.keys || (v_job.provider || '@' || v_key);
    end loop;
    v_chosen.rooms := v_rooms;
    return v_chosen;
end $$;
