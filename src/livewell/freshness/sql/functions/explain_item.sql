-- Why items of a key are as they are, by type (null: all): who looks, how old, what was learned, what was decided last and what
-- the checker would decide now, what the last fetch came to and why, the refresh that waits or runs, what holds it back, and the
-- last few outcomes, newest first. Nothing is changed, but a check that fails is warned about.
-- for: service
create or replace function livewell.explain_item(
    p_type text, p_key text, p_now timestamptz default clock_timestamp()
) returns table (
    data_type text, key text, item_id bigint, endpoint text, policy text, strategy text, viewers integer,
    viewers_average double precision, watched_since timestamptz, newest timestamptz, ttl interval, stale boolean, error text,
    gate text, gate_opens_at timestamptz, fetches integer, changes integer, change_rate double precision, bytes double precision,
    price double precision, score double precision, decision text, decided_at timestamptz, decision_now text, due_at timestamptz,
    last_outcome text, last_reason text, last_outcome_at timestamptz, failed_refreshes integer, job_id bigint, job_state text,
    job_attempt integer, job_priority integer, job_due_at timestamptz, job_cause text, blocked_by text, blocked_until timestamptz,
    next_walk_at timestamptz, recent jsonb
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_ids bigint[];
    v_assessments livewell_private.assessment[];
    v_decided livewell_private.decided_item[];
    v_rates double precision[];
begin
    perform livewell_private.require_primary();
    if p_type is not null then
        perform livewell_private.require_type(p_type);
    end if;
    v_ids := array(
        select i.id from livewell_private.known_types as t join livewell_private.item as i on i.data_type = t.name and i.key = p_key
        where p_type is null or t.name = p_type
        order by i.id
    );
    v_assessments := livewell_private.value_assessments(livewell_private.assess_items(v_ids, p_now), p_now);
    v_decided := livewell_private.decide_items(v_assessments, null, p_now);
    v_rates := livewell_private.change_rates(
        array(select l.item_id from unnest(v_assessments) as l), array(select extract(epoch from l.ttl)::double precision / 60 from unnest(v_assessments) as l)
    );
    return query
    select
        i.data_type, i.key, i.id, t.endpoint, livewell_private.policy_of(p), t.strategy, i.viewers,
        l.viewers + (i.viewers_average - l.viewers) * power(
            0.5, greatest(0, extract(epoch from p_now - coalesce(i.averaged_at, p_now))) / livewell_private.viewers_half_life()
        ),
        i.watched_since,
        l.newest, l.ttl, l.stale, l.error, t.gate, l.opens_at, i.fetches, i.changes, l.rate,
        coalesce(l.bytes, i.bytes_mean, y.bytes_mean, t.expected_bytes, e.expected_bytes), r.price, coalesce(l.score, i.score),
        i.decision, i.decided_at, d.decision, i.due_at, o.outcome, o.reason, o.ended_at, i.failed_refreshes, j.id,
        livewell.shown_state(j.state, j.attempt, j.due_at, p_now), j.attempt, j.priority, j.due_at, j.payload ->> 'cause', h.reason,
        h.until, w.next_at, (
            select coalesce(jsonb_agg(to_jsonb(r) - 'at' order by r.at), '[]')
            from livewell_private.item_outcomes as c cross join lateral unnest(c.outcomes) with ordinality as r (job_id, worker, started_at, finished_at, outcome, reason, at)
            where c.item_id = i.id
        )
    from unnest(v_assessments, v_rates)
        as l (item_id, data_type, key, viewers, newest, ttl, stale, error, opens_at, score, bytes, rate)
    join livewell_private.item as i on i.id = l.item_id
    join unnest(v_decided) as d on d.item_id = i.id
    join livewell_private.known_types as t on t.name = i.data_type
    join livewell.endpoints as e on e.name = t.endpoint
    join livewell_private.provider as p on p.name = e.provider
    left join livewell_private.type_learning as y on y.data_type = i.data_type
    left join livewell_private.byte_price as r on r.provider = e.provider
    left join livewell_private.scheduled_walk as w on w.data_type = i.data_type
    left join livewell_private.job_live as j on j.dedupe_key = 'refresh/' || i.data_type || '/' || i.key
    left join lateral livewell.refresh_obstacle(i.data_type, t.endpoint, p_now) as h on j.state is distinct from 'processing'
    left join lateral (
        select a.outcome, livewell_private.one_line(coalesce(a.error ->> 'message', a.reason), 300) as reason, a.ended_at
        from livewell_private.job_attempt as a where a.job_id = j.id order by a.attempt desc, a.ended_at desc limit 1
    ) as a on true
    -- What was fetched tells its item; an attempt that never came so far is known to its job only.
    cross join lateral (
        select i.last_outcome as outcome, i.last_reason as reason, i.last_outcome_at as ended_at
        where a.ended_at is null or a.ended_at <= i.last_outcome_at
        union all
        select a.outcome, a.reason, a.ended_at where a.ended_at > coalesce(i.last_outcome_at, '-infinity')
    ) as o
    order by i.data_type;
end $$;
