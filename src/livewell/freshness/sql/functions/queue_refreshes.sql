-- Here a refresh becomes a job: refreshes that are wanted are queued, and those that wait are raised. One that runs is left alone: whoever ends it
-- locks it first and its item after, the other way round. One that somebody is queueing in a transaction that stays open is not
-- waited for: it is found by halving, and its item is in the answer.
-- for: internal
create or replace function livewell_private.queue_refreshes(p_wanted livewell_private.wanted_refresh[], p_now timestamptz, p_patience integer default 250)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' set enable_seqscan = off set jit = off as $$
declare
    v_half constant integer := cardinality(p_wanted) / 2;
    v_jobs jsonb;
    v_raised bigint[];
    v_askers text[];
begin
    select jsonb_agg(jsonb_build_object(
        'kind', 'refresh.' || i.data_type, 'endpoint', t.endpoint, 'priority', w.priority, 'dedupe_key', d.dedupe_key,
        'serial_key', e.provider || '/' || i.key,
        -- What a whole answer takes, and some more: the estimate of the kind is drawn down by answers that say "unchanged".
        'estimated_bytes', least(e.max_bytes, ceil(coalesce(1.25 * coalesce(i.bytes_mean, y.bytes_mean), t.expected_bytes)))::bigint,
        'payload', jsonb_build_object('type', i.data_type, 'key', i.key, 'item', i.id, 'cause', w.cause)
            || case when w.asked_by is null then '{}' else jsonb_build_object('asked_by', w.asked_by) end
            || case when w.never_stored and i.fetched_at is null then '{"new": true}'::jsonb else '{}' end
    )) into v_jobs
    from unnest(p_wanted) as w
    join livewell_private.item as i on i.id = w.item_id
    join livewell_private.known_types as t on t.name = i.data_type
    join livewell.endpoints as e on e.name = t.endpoint
    left join livewell_private.type_learning as y on y.data_type = i.data_type
    cross join lateral (select 'refresh/' || i.data_type || '/' || i.key as dedupe_key) as d
    where (select j.state from livewell_private.job_live as j where j.dedupe_key = d.dedupe_key limit 1) is distinct from 'processing';
    if v_jobs is null then
        return array[]::bigint[];
    end if;
    perform set_config('lock_timeout', p_patience::text, true);
    begin
        select array_agg(q.job_id), array_agg(q.asker) into v_raised, v_askers
        from (
            select e.job_id, v_jobs -> (e.job_position - 1) -> 'payload' ->> 'asked_by' as asker
            from livewell.enqueue_jobs(v_jobs, 'raise_priority', p_now) as e where e.outcome = 'raised'
        ) as q
        where q.asker is not null;
        -- One that waited already is now ahead for whoever asked: it is theirs.
        if v_raised is not null then
            update livewell_private.job_live as j set payload = j.payload || jsonb_build_object('asked_by', q.asker)
            from unnest(v_raised, v_askers) as q (job_id, asker)
            where j.id = q.job_id;
        end if;
        return array[]::bigint[];
    exception when lock_not_available then
        if v_half = 0 then
            return array[(p_wanted[1]).item_id];
        end if;
    end;
    -- Half as patient each time, so that however many are locked, all of them together cost a few moments.
    return livewell_private.queue_refreshes(p_wanted[:v_half], p_now, greatest(1, p_patience / 2))
        || livewell_private.queue_refreshes(p_wanted[v_half + 1:], p_now, greatest(1, p_patience / 2));
end $$;
