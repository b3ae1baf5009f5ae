-- Of jobs in their order, those that fit a headroom together with the ones before them; of a lane all up to the first that does not,
-- so that its requests stay full.
-- for: internal
create or replace function livewell_private.jobs_that_fit(
    p_jobs livewell_private.chosen_job[], p_lanes livewell_private.open_lane[], p_headroom livewell_private.headroom
) returns livewell_private.chosen_job[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_jobs livewell_private.chosen_job[];
begin
    select array_agg(p_jobs[f.nth] order by f.nth) into v_jobs
    from (
        select s.nth, bool_and(s.fits) over (partition by s.lane_id order by s.nth) as fits
        from (
            select j.ordinality as nth, j.lane_id, (
                sum(r.requests) over of_endpoint <= own.requests and sum(j.tokens) over of_endpoint <= own.tokens
                and sum(r.requests) over of_provider <= account.requests and sum(j.tokens) over of_provider <= account.tokens
                and sum(r.requests) over of_key <= key.requests and sum(j.tokens) over of_key <= key.tokens
                and sum(j.bytes) over of_provider <= quota.bytes
            ) is not false as fits
            from unnest(p_jobs) with ordinality as j
            join unnest(p_lanes) as l on l.lane_id = j.lane_id
            cross join lateral (select case when j.is_passenger then 0 else 1 end as requests, split_part(l.endpoint, '/', 1) as provider) as r
            left join unnest(p_headroom.limits) as own on own.name = l.endpoint
            left join unnest(p_headroom.limits) as account on account.name = r.provider
            left join unnest(p_headroom.limits) as key on key.name = j.key_limit
            left join unnest(p_headroom.quotas) as quota on quota.provider = r.provider
            window of_endpoint as (partition by l.endpoint order by j.ordinality),
                of_provider as (partition by r.provider order by j.ordinality),
                of_key as (partition by j.key_limit order by j.ordinality)
        ) as s
    ) as f
    where f.fits;
    return v_jobs;
end $$;
