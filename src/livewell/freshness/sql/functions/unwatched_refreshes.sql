-- Items that nobody looks at and whose refresh is ready to go before scheduled work, some time after it was queued: who asked for
-- them has left while their refresh could not be let go. What somebody queued for another cause is not theirs and takes no place.
-- for: internal
create or replace function livewell_private.unwatched_refreshes(p_most integer, p_now timestamptz) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    return array(
        select i.id
        from livewell_private.job_lane as l
        cross join lateral (
            select i.id from livewell_private.job_live as j
            join livewell_private.item as i on i.data_type = j.payload ->> 'type' and i.key = j.payload ->> 'key'
            where j.lane_id = l.id and j.state = 'pending' and j.waiting_for is null and (j.priority > 0 or j.priority = 0 and j.failures = 0)
                and j.created_at < p_now - interval '1 minute'
                and j.payload ->> 'cause' in ('missing', 'stale', 'subscribe', 'scheduled', 'prefetch', 'sample')
                and j.dedupe_key = 'refresh/' || i.data_type || '/' || i.key and not i.watched
            order by j.priority desc, j.due_at, j.id
            limit p_most
        ) as i
        where l.kind like 'refresh.%'
        limit p_most
    );
end $$;
