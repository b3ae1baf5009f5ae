-- Tells items that their refresh failed for good, and why. They are looked at again while somebody looks, each time later: a failure
-- in a row doubles the wait, up to a bound; a success begins anew. So nobody need look at such a dead letter: it is acknowledged
-- here, and a warning per type counts them. An item that somebody else holds is not waited for: it is looked at when it is free. A job
-- that is not its item's refresh is left for a person.
-- for: internal
create or replace function livewell_private.refreshes_failed() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_jobs bigint[];
    v_items bigint[];
    v_busy bigint[];
    v_longest interval;
begin
    if not exists (select from dead as d where d.kind like 'refresh.%') then
        return null;
    end if;
    select array_agg(d.id), array_agg(i.id) into v_jobs, v_items
    from dead as d
    join livewell_private.item as i on i.data_type = d.payload ->> 'type' and i.key = d.payload ->> 'key'
    where d.kind = 'refresh.' || i.data_type and i.id::text = d.payload ->> 'item';
    if v_jobs is null then
        return null;
    end if;
    v_longest := livewell.setting_interval('freshness.failed_again_max');
    v_busy := livewell_private.hold_items(v_items, (select max(d.finished_at) from dead as d));
    update livewell_private.item as i
    set failed_refreshes = i.failed_refreshes + 1, decision = 'refresh_failed', decided_at = d.finished_at, last_outcome = d.state, last_outcome_at = d.finished_at,
        last_reason = livewell_private.one_line(coalesce(d.error ->> 'message', d.reason), 300),
        due_at = d.finished_at + least(
            v_longest, greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')) * power(2, least(i.failed_refreshes, 20))
        )
    from unnest(v_jobs, v_items) as f (job_id, item_id)
    join dead as d on d.id = f.job_id
    join livewell_private.data_type as t on t.name = d.payload ->> 'type'
    where i.id = f.item_id and i.id <> all (v_busy);
    perform livewell_private.note_outcomes(
        array_agg(f.item_id), array_agg(d.id), array_agg(d.state), array_agg(coalesce(d.error ->> 'message', d.reason)),
        max(d.finished_at), array_agg(d.worker), array_agg(d.started_at)
    )
    from unnest(v_jobs, v_items) as f (job_id, item_id)
    join dead as d on d.id = f.job_id
    where f.item_id <> all (v_busy);
    update livewell_private.job_failed as j set acknowledged_at = j.finished_at, acknowledged_by = 'livewell'
    from dead as d
    where d.id = any (v_jobs) and j.id = d.id and j.finished_at = d.finished_at;
    perform livewell_private.warn('freshness.refresh_failed', n.data_type, n.message, n.last_at, n.refreshes)
    from (
        select d.payload ->> 'type' as data_type, count(*)::integer as refreshes, max(d.finished_at) as last_at,
            (array_agg(format('%s: %s', d.payload ->> 'key', coalesce(d.error ->> 'message', d.reason)) order by d.id desc))[1] as message
        from dead as d where d.id = any (v_jobs)
        group by 1 order by 1
    ) as n;
    return null;
end $$;
