-- How many jobs each lane may give to one claim, and which: the best of all, groups by their shares, kinds within their room,
-- leaving out what a lane cannot afford and what was passed already. Looks at a few of each lane first, and at more only of
-- lanes where those are not enough: sorting the full lists of ten lanes cost more than the claim itself.
-- for: internal
create or replace function livewell_private.share_out(p_lanes livewell_private.open_lane[], p_max_jobs integer, p_passed tid[] default null)
returns livewell_private.shared_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_shared livewell_private.shared_jobs;
    v_assessments integer[] := array_fill(
        case when cardinality(p_lanes) > 3 then 2 * p_max_jobs / cardinality(p_lanes) + 4 else p_max_jobs end,
        array[cardinality(p_lanes)]
    );
    v_lowest integer[];
    v_highest integer;
begin
    loop
        with looked as (
            select l.at, l.kind, l.queue_group, l.share, l.room, j.priority, j.due_at, j.id, j.ctid as place
            from unnest(p_lanes, v_assessments) with ordinality as l (
                lane_id, kind, queue_group, share, room, endpoint, calls, call_bytes, token_room, byte_room, lowest_priority, per_request,
                look, at
            )
            cross join lateral (
                select c.priority, c.due_at, c.id, c.ctid from livewell_private.job_live as c
                where c.lane_id = l.lane_id and c.state = 'pending' and c.held is null
                    and (l.token_room is null or c.estimated_tokens <= l.token_room)
                    and (l.byte_room is null or coalesce(c.estimated_bytes, l.call_bytes) <= l.byte_room)
                    and (l.lowest_priority is null or c.priority >= l.lowest_priority)
                    and (p_passed is null or c.ctid <> all (p_passed))
                order by c.priority desc, c.due_at, c.id
                limit least(l.room, l.calls, l.look)
            ) as j
        ),
        chosen as (
            select r.at, r.place
            from (
                select k.at, k.place, k.share,
                    row_number() over (partition by k.queue_group order by k.priority desc, k.due_at, k.id) as group_rank
                from (
                    select l.*, row_number() over (partition by l.kind order by l.priority desc, l.due_at, l.id) as kind_rank
                    from looked as l
                ) as k
                where k.kind_rank <= k.room
            ) as r
            order by (r.group_rank - 0.5) / r.share, r.at
            limit p_max_jobs
        )
        select array_agg(coalesce(n.jobs, 0) order by l.at), (select array_agg(c.place) from chosen as c),
            array_agg(s.lowest order by l.at)
        into v_shared.counts, v_shared.places, v_lowest
        from generate_subscripts(p_lanes, 1) as l (at)
        left join (select c.at, count(*)::integer as jobs from chosen as c group by c.at) as n on n.at = l.at
        left join (select k.at, min(k.priority) as lowest from looked as k group by k.at) as s on s.at = l.at;
        -- A lane that gave all that was looked at may have more that is better than what others gave; first of these is the
        -- one whose last was best, because what it has more may take the place of what the others gave.
        select max(l.lowest) into v_highest
        from unnest(v_shared.counts, v_assessments, v_lowest) as l (jobs, look, lowest)
        where l.jobs >= l.look and l.look < p_max_jobs;
        exit when v_highest is null;
        v_assessments := array(
            select case when l.jobs >= l.look and l.lowest = v_highest then p_max_jobs else l.look end
            from unnest(v_shared.counts, v_assessments, v_lowest) with ordinality as l (jobs, look, lowest, at) order by l.at
        );
    end loop;
    return v_shared;
end $$;
