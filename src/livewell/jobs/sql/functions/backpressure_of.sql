-- What the endpoints of a batch ask of new jobs, by endpoint: a delay while the endpoint is near a limit, and whether serial
-- keys count there; null when they ask nothing. Refuses the batch when more would wait for an endpoint than it allows.
-- for: internal
create or replace function livewell_private.backpressure_of(p_jobs jsonb, p_now timestamptz) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_full record;
    v_pressed jsonb;
begin
    with asked as (
        select j.endpoint, count(*) as jobs
        from jsonb_to_recordset(p_jobs) as j (endpoint text, dedupe_key text)
        where j.endpoint is not null
            and (j.dedupe_key is null or not exists (select from livewell_private.job_live as l where l.dedupe_key = j.dedupe_key))
        group by j.endpoint
    )
    select e.name, e.depth_limit, w.waiting, a.jobs into v_full
    from asked as a
    join livewell.endpoints as e on e.name = a.endpoint and e.depth_limit is not null
    cross join lateral (
        select count(*) as waiting from (
            select from livewell_private.job_live as j where j.endpoint = e.name and j.state = 'pending' limit e.depth_limit
        ) as j
    ) as w
    where w.waiting + a.jobs > e.depth_limit
    order by e.name
    limit 1;
    if found then
        raise exception using errcode = 'LWB02',
            message = format('%s holds %s waiting jobs and allows %s: %s more are refused', v_full.name, v_full.waiting, v_full.depth_limit, v_full.jobs),
            hint = format('queue less, wait, or: livewell endpoints set %s depth_limit=N', v_full.name);
    end if;
    select jsonb_object_agg(e.name, jsonb_build_object(
        'delay', case when p.share >= e.backpressure_share then extract(epoch from e.backpressure_delay) end, 'serial', e.serial_keys
    ))
    into v_pressed
    from livewell.endpoints as e
    cross join lateral livewell_private.limit_pressure(e.name, p_now) as p (share)
    where e.name in (select j.endpoint from jsonb_to_recordset(p_jobs) as j (endpoint text))
        and (not e.serial_keys or p.share >= e.backpressure_share);
    return v_pressed;
end $$;
