-- How many jobs each lane may give to one claim, and which: the best of all, groups by their shares, kinds within their caps,
-- leaving out what a lane cannot afford and what was passed already. Looks at a few of each lane first, and at more only of
-- lanes where those are not enough: sorting the full lists of ten lanes cost more than the claim itself.
-- for: internal
create or replace function livewell_private.share_out(p_lanes livewell_private.open_lane[], p_max_jobs integer, p_passed tid[] default null)
returns livewell_private.shared_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_shared livewell_private.shared_jobs;
    v_looks integer[] := array_fill(
        case when cardinality(p_lanes) > 3 then 2 * p_max_jobs / cardinality(p_lanes) + 4 else p_max_jobs end,
        array[cardinality(p_lanes)]
    );
    v_lowest integer[];
    v_highest integer;
begin
    -- With few lanes of one group and no caps the order alone decides, and the server merges it. What is too large for what is
    -- left is found out by who looks, and passed over in the next look.
    if p_passed is null and cardinality(p_lanes) <= 16 and not exists (
        select from unnest(p_lanes) as l
        where l.queue_group <> p_lanes[1].queue_group or l.max_jobs < p_max_jobs or (l.allowance).lowest_priority is not null
    ) then
        return livewell_private.merge_lanes(
            array(select l.lane_id from unnest(p_lanes) as l),
            array(select (l.allowance).requests * l.jobs_per_request + (l.allowance).free_slots from unnest(p_lanes) as l), p_max_jobs
        );
    end if;
    loop
        with looked as (
            select l.ordinality as at, l.kind, l.queue_group, l.share, l.max_jobs, j.priority, j.due_at, j.id, j.ctid as place
            from unnest(p_lanes) with ordinality as l
            cross join lateral (
                select c.priority, c.due_at, c.id, c.ctid from livewell_private.job_live as c
                where c.lane_id = l.lane_id and c.state = 'pending' and c.waiting_for is null
                    and ((l.allowance).tokens is null or c.estimated_tokens <= (l.allowance).tokens)
                    and ((l.allowance).bytes is null or coalesce(c.estimated_bytes, (l.allowance).bytes_per_job) <= (l.allowance).bytes)
                    and ((l.allowance).lowest_priority is null or c.priority >= (l.allowance).lowest_priority)
                    and (p_passed is null or c.ctid <> all (p_passed))
                order by c.priority desc, c.due_at, c.id
                limit least(
                    l.max_jobs, (l.allowance).requests * l.jobs_per_request + (l.allowance).free_slots, v_looks[l.ordinality]
                )
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
                where k.kind_rank <= k.max_jobs
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
        from unnest(v_shared.counts, v_looks, v_lowest) as l (jobs, look, lowest)
        where l.jobs >= l.look and l.look < p_max_jobs;
        exit when v_highest is null;
        v_looks := array(
            select case when l.jobs >= l.look and l.lowest = v_highest then p_max_jobs else l.look end
            from unnest(v_shared.counts, v_looks, v_lowest) with ordinality as l (jobs, look, lowest, at) order by l.at
        );
    end loop;
    return v_shared;
end $$;
