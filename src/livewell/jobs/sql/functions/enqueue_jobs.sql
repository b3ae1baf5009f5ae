-- Queues a batch in the caller's transaction; a live job with the same dedupe key is kept, replaced or raised, as asked.
-- for: service
create or replace function livewell.enqueue_jobs(
    p_jobs jsonb,
    p_on_duplicate text default 'keep',
    p_now timestamptz default clock_timestamp()
) returns table (job_position integer, job_id bigint, outcome text, handled boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_new livewell_private.enqueued_jobs;
    v_unhandled text[];
begin
    perform livewell_private.require_primary();
    if not livewell.setting_boolean('queue.enqueue_enabled') then
        raise exception using errcode = 'LWJ04', message = 'new jobs are refused at the moment',
            hint = 'livewell settings set queue.enqueue_enabled true';
    end if;
    if p_jobs is null or jsonb_typeof(p_jobs) <> 'array' then
        raise exception using errcode = 'LWJ03', message = 'jobs must be a JSON array of objects';
    end if;
    perform livewell_private.refuse_large_jobs(p_jobs, 'jobs.payload_bytes');
    case p_on_duplicate
        when 'keep' then v_new := livewell_private.insert_or_keep_jobs(p_jobs, p_now);
        when 'replace', 'raise_priority' then v_new := livewell_private.insert_or_change_jobs(p_jobs, p_on_duplicate, p_now);
        else raise exception using errcode = 'LWJ03', message = format('unknown choice for duplicates: %s', p_on_duplicate),
            hint = 'one of keep, replace, raise_priority';
    end case;
    if v_new.has_serial_keys then
        perform livewell_private.park_behind_serial_keys(array(
            select o.id from unnest(v_new.ids, v_new.outcomes) as o (id, outcome) where o.outcome <> 'kept'
        ));
    end if;
    v_unhandled := livewell_private.tell_workers(v_new.kinds, p_now);
    return query
    select o.at, o.id, o.outcome, case
        when cardinality(v_unhandled) is distinct from cardinality(v_new.kinds)
            then v_unhandled is null or not p_jobs -> (o.at - 1) ->> 'kind' = any (v_unhandled)
        else false
    end
    from unnest(v_new.positions, v_new.ids, v_new.outcomes) as o (at, id, outcome);
end $$;
