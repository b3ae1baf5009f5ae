-- What a claim needs to know, in one look: the leases, whether jobs with serial keys are ready, and the lanes it may take
-- from that hold something, that is of its groups and kinds, not paused, at an endpoint that is open, below their
-- caps; none in maintenance. Releases first what has become due.
-- for: internal
create or replace function livewell_private.look_for_jobs(
    p_groups text[], p_kinds text[], p_shares double precision[], p_max_jobs integer, p_now timestamptz
) returns livewell_private.claim_view
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_seen livewell_private.claim_view;
    v_capped boolean;
    v_due boolean;
    v_maintenance boolean;
begin
    if cardinality(p_shares) <> cardinality(p_groups) or not (0 < all (p_shares) and 'NaN' > all (p_shares)) then
        raise exception using errcode = 'LWJ03', message = 'each group needs a share, and a share is a positive number';
    end if;
    loop
        select
            (select s.value::boolean from livewell.settings as s where s.name = 'maintenance.enabled'), o.default_lease,
            exists (select from livewell_private.job_live as j where j.waiting_for = 'due' and j.due_at <= p_now),
            coalesce((
                select true from livewell_private.job_live as j
                where j.state = 'pending' and j.waiting_for is null and j.serial_key is not null
                order by j.serial_key, j.priority desc, j.due_at, j.id
                limit 1
            ), false),
            o.lanes, o.capped, o.budgeted,
            case
                when o.leases = 0 then o.default_lease
                when o.leases = cardinality(o.lanes) and o.shortest_lease = o.longest_lease then o.longest_lease
            end
        into v_maintenance, v_seen.default_lease, v_due, v_seen.has_serial_keys, v_seen.lanes, v_capped, v_seen.is_budgeted, v_seen.lease
        from (
            select
                (select s.value::interval from livewell.settings as s where s.name = 'worker.timeout') as default_lease,
                bool_or(l.capped) as capped, bool_or(l.endpoint is not null) as budgeted, count(l.lease) as leases, min(l.lease) as shortest_lease,
                max(l.lease) as longest_lease,
                array_agg(row (
                    l.lane_id, l.kind, l.queue_group, l.share, l.max_jobs, l.endpoint, l.jobs_per_request, null
                )::livewell_private.open_lane) as lanes
            from (
                select l.id as lane_id, l.endpoint, k.kind, k.queue_group, k.lease, k.concurrency is not null as capped,
                    coalesce(p_shares[array_position(p_groups, k.queue_group)], 1) as share, p_max_jobs + r.jobs - 1 as max_jobs,
                    r.jobs as jobs_per_request, count(*) over () as number
                from livewell_private.job_lane as l
                join livewell_private.job_kind as k on k.kind = l.kind
                cross join lateral (select case when l.endpoint is null then 1 else k.jobs_per_request end as jobs) as r
                where k.queue_group = any (p_groups) and (p_kinds is null or k.kind = any (p_kinds))
                    and (k.paused_until is null or k.paused_until <= p_now)
                    and (l.endpoint is null or l.endpoint = any (array(
                        select e.name
                        from livewell.endpoints as e
                        join livewell.providers as p on p.name = e.provider
                        join livewell_private.limit_use as u on u.name = e.name
                        left join livewell_private.limit_use as a on a.name = e.provider
                        where e.state = 'active' and p.state = 'active' and u.next_allowed_at <= p_now
                            and (a.name is null or a.next_allowed_at <= p_now)
                    )))
            ) as l
            -- One look into each lane, if there are several; a plain EXISTS may be planned as a join with all that is ready.
            where l.number = 1 or (
                select true from livewell_private.job_live as j
                where j.lane_id = l.lane_id and j.state = 'pending' and j.waiting_for is null
                order by j.lane_id, j.priority desc, j.due_at, j.id
                limit 1
            )
        ) as o;
        exit when v_maintenance or not v_due or livewell_private.release_due_jobs(p_now) = 0;
    end loop;
    if v_maintenance or p_max_jobs < 1 then
        v_seen.lanes := null;
    elsif v_capped then
        v_seen.lanes := livewell_private.lanes_within_caps(v_seen.lanes);
    end if;
    return v_seen;
end $$;
