-- Refreshes that end without an answer: cancelled, failed for good, or given up by rescue. Jobs knows no items, so its rows tell them,
-- by two triggers that leave all other jobs alone. A failed one is known to its item, which waits longer each time; so nobody need look
-- at such a dead letter: it is acknowledged here, and a warning per type counts them. A cancelled one is told only to an item that
-- somebody looks at. An item that somebody else has locked is not waited for: it is due when it is free. A job that is not its item's
-- refresh tells nothing, and is left for a person.
-- for: internal
create or replace function livewell_private.refresh_jobs_ended(p_jobs bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_ended livewell_private.ended_refresh[];
    v_busy bigint[];
    v_dead bigint[];
begin
    v_ended := array(
        select row (
            j.id, i.id, case j.state when 'failed' then 'dead' else j.state end,
            case j.state when 'failed' then coalesce(j.error ->> 'message', j.reason) else j.reason end, null, null,
            j.worker, j.started_at
        )::livewell_private.ended_refresh
        from livewell_private.job as j
        join livewell_private.item as i on i.data_type = j.payload ->> 'type' and i.key = j.payload ->> 'key'
        where j.id = any (p_jobs) and j.finished_at = p_now and j.state in ('failed', 'cancelled')
            and j.kind = 'refresh.' || i.data_type and i.id::text = j.payload ->> 'item' and (j.state = 'failed' or i.viewers > 0)
    );
    if v_ended = '{}' then
        return;
    end if;
    v_busy := livewell_private.lock_items(array(select e.item_id from unnest(v_ended) as e), p_now);
    perform livewell_private.end_refreshes(array(select e from unnest(v_ended) as e where e.item_id <> all (v_busy)), p_now);
    v_dead := array(select e.job_id from unnest(v_ended) as e where e.outcome = 'dead');
    update livewell_private.job_failed as j set acknowledged_at = p_now, acknowledged_by = 'livewell'
    where j.id = any (v_dead) and j.finished_at = p_now;
    perform livewell_private.warn('freshness.refresh_failed', w.data_type, w.message, p_now, w.refreshes)
    from (
        select i.data_type, count(*)::integer as refreshes,
            (array_agg(format('%s: %s', i.key, e.reason) order by e.job_id desc))[1] as message
        from unnest(v_ended) as e join livewell_private.item as i on i.id = e.item_id
        where e.outcome = 'dead'
        group by i.data_type order by i.data_type
    ) as w;
end $$;
