-- Stores what was pushed rather than fetched, as an answer that was parsed: each with its key, its rows and, if known, source time, hash,
-- volatile fields, and whether a key may have many rows; or with the reason why it is refused already. It counts as a fetch of its
-- item, forgets what the last answer was marked with, and is not overwritten by a fetch that has begun by now. What cannot be stored is
-- refused alone, with its reason; what somebody else holds in an open transaction is busy, and to be put again. Nothing is cancelled.
-- for: service
create or replace function livewell.store_puts(p_type text, p_puts jsonb, p_now timestamptz default clock_timestamp())
returns table (key text, outcome text, reason text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_puts livewell_private.ended_fetch[];
    v_refused bigint[];
    v_locked livewell_private.ended_fetch[];
    v_verdicts livewell_private.fetch_verdict[];
    v_stored livewell_private.judged_fetch[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(p_type);
    v_puts := livewell_private.read_puts(p_type, p_puts);
    v_verdicts := livewell_private.refuse_puts(v_puts);
    v_refused := array(select v.job from unnest(v_verdicts) as v);
    v_locked := livewell_private.lock_puts(array(select p from unnest(v_puts) as p where p.job <> all (v_refused)), p_now);
    v_verdicts := v_verdicts || livewell_private.store_by_type(v_locked, p_now);
    v_stored := array(
        select row (p, v)::livewell_private.judged_fetch
        from unnest(v_locked) as p join unnest(v_verdicts) as v on v.job = p.job
        where v.outcome in ('fetched', 'unchanged') order by p.item
    );
    if v_stored <> '{}' then
        perform livewell_private.lock_samples(array(select (s.told).item from unnest(v_stored) as s));
        delete from livewell_private.fetch_state as c where c.item_id in (select (s.told).item from unnest(v_stored) as s);
        perform livewell_private.end_refreshes(array(
            select row (
                null, (s.told).item, (s.found).outcome, (s.found).reason,
                case when (s.found).reason is distinct from 'same_source_time' then decode((s.told).hash, 'hex') end, null, 'put', p_now
            )::livewell_private.ended_refresh from unnest(v_stored) as s
        ), p_now);
        perform livewell_private.note_puts(
            array_agg((s.told).item), array_agg((s.told).source_time),
            array_agg(case when (s.found).reason is distinct from 'same_source_time' then decode((s.told).hash, 'hex') end), p_now
        )
        from unnest(v_stored) as s;
    end if;
    perform livewell_private.warn_of_failures(array(
        select row (p, v)::livewell_private.judged_fetch from unnest(v_puts) as p join unnest(v_verdicts) as v on v.job = p.job
    ), p_now);
    return query
    select p.key, v.outcome, v.reason from unnest(v_puts) as p join unnest(v_verdicts) as v on v.job = p.job order by p.job;
end $$;
