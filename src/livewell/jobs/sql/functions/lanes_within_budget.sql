-- The lanes with what each may take of its endpoint's budget beside the jobs a claim has taken; those that may take nothing are left
-- out, null when none is left.
-- for: internal
create or replace function livewell_private.lanes_within_budget(
    p_lanes livewell_private.open_lane[], p_headroom livewell_private.headroom, p_taken livewell_private.chosen_job[]
) returns livewell_private.open_lane[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(o::livewell_private.open_lane)
        from (
            select l.lane_id, l.kind, l.queue_group, l.share, l.max_jobs - t.of_kind as max_jobs, l.endpoint, l.jobs_per_request,
                case when l.endpoint is not null then a::livewell_private.lane_allowance end as allowance
            from unnest(p_lanes) as l
            left join livewell.endpoints as e on e.name = l.endpoint
            left join livewell.estimates as s on s.endpoint = l.endpoint and s.subject = l.kind
            left join unnest(p_headroom.quotas) as q on q.provider = e.provider
            cross join lateral (
                select count(*) filter (where o.kind = l.kind)::integer as of_kind, count(*) filter (where o.lane_id = l.lane_id) as of_lane
                from unnest(p_taken) as j join unnest(p_lanes) as o on o.lane_id = j.lane_id
            ) as t
            cross join lateral (
                select
                    least(min(h.requests) filter (where h.kind <> 'keys'), case
                        when bool_or(h.kind = 'keys') and not bool_or(h.kind = 'keys' and h.requests is null)
                            then sum(h.requests) filter (where h.kind = 'keys')
                    end)::bigint as requests,
                    (-t.of_lane % l.jobs_per_request + l.jobs_per_request)::integer % l.jobs_per_request as free_slots,
                    least(min(h.tokens) filter (where h.kind <> 'keys'), case
                        when not bool_or(h.kind = 'keys' and h.tokens is null)
                            then max(h.tokens) filter (where h.kind = 'keys' and (h.requests is null or h.requests > 0))
                    end) as tokens,
                    q.bytes,
                    -- Where the endpoint expects its cap, nothing less is ever reserved.
                    case when e.expected_bytes = e.max_bytes then e.max_bytes else coalesce(s.bytes_upper, e.expected_bytes) end as bytes_per_job,
                    case when q.is_low then 0 end as lowest_priority
                from unnest(p_headroom.limits) as h
                where h.name in (l.endpoint, e.provider) or (h.kind = 'keys' and h.provider = e.provider)
            ) as a
            where l.max_jobs > t.of_kind
                and (l.endpoint is null or (a.requests > 0 or a.free_slots > 0) is not false and (a.tokens > 0 and a.bytes > 0) is not false)
        ) as o
    );
end $$;
