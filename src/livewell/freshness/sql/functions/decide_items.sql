-- What is done about assessed items: a refresh is queued, or when the item is checked again and why. Every check moves its item on, or
-- what is not worth its bytes would keep the rest from being reached. First each item as if it were alone: what waits because its
-- refresh failed waits for its time, whoever asks. Then those that are to be refreshed share what headroom there is.
-- Of those a user asks for the first has the whole priority, each further one that waits half of it, so that everybody's first goes
-- before anybody's second.
-- for: internal
create or replace function livewell_private.decide_items(
    p_assessments livewell_private.assessment[], p_priority integer, p_now timestamptz, p_asked bigint[] default null, p_askers text[] default null,
    p_waiting bigint[] default null
) returns livewell_private.decided_item[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_hashjoin = on as $$
declare
    v_check_again constant interval := livewell.setting_interval('freshness.check_again');
    v_queued_again constant interval := livewell.setting_interval('freshness.queued_again');
    v_headroom constant livewell_private.endpoint_headroom[] := array(
        select h from livewell_private.refresh_headroom(array(
            select distinct t.endpoint from unnest(p_assessments) as a join livewell_private.known_types as t on t.name = a.data_type where a.stale
        ), p_priority, p_now) as h
    );
    v_decided livewell_private.decided_item[];
begin
    with alone as materialized (
        select
            a.*, a as assessment, i.uncounted, i.due_at, i.failed_check_at, t.endpoint, t.priority_floor, h.policy,
            case
                when not a.stale then 'fresh'
                when i.failed_refreshes > 0 and i.decision = 'refresh_failed' and i.due_at > p_now then 'refresh_failed'
                when a.opens_at is not null then 'gate_closed'
                when a.error is not null and i.failed_check_at > p_now - a.ttl then 'check_failed'
                when h.is_active is not true then 'endpoint_closed'
                when h.quota_is_open is not true then 'quota_closed'
                when h.policy = 'value' and coalesce(p_priority, 0) >= 0 and a.newest is not null and a.error is null and a.score <= 0 then 'not_worth'
                else 'queued'
            end as decision
        from unnest(p_assessments) as a
        join livewell_private.item as i on i.id = a.item_id
        join livewell_private.known_types as t on t.name = a.data_type
        left join unnest(v_headroom) as h on h.endpoint = t.endpoint
    ),
    decided as (
        select a.*, coalesce(s.decision, a.decision) as final, s.turn, s.over_share
        from alone as a
        left join livewell_private.share_headroom(
            array(select w.assessment from alone as w where w.decision = 'queued'), v_headroom, p_priority, p_now, p_asked, p_askers, p_waiting
        ) as s on s.item_id = a.item_id
    )
    select array_agg(row (
        d.item_id, d.data_type, d.key, d.newest, d.ttl, d.error, d.score, d.endpoint, d.final,
        case d.final
            when 'fresh' then greatest(d.newest + d.ttl, p_now + least(d.ttl, interval '1 minute') / 60)
            when 'gate_closed' then greatest(d.opens_at, p_now + interval '1 second')
            when 'check_failed' then d.failed_check_at + d.ttl
            when 'refresh_failed' then d.due_at
            when 'not_worth' then p_now + least(greatest(d.ttl / 4, v_check_again), interval '5 minutes')
            when 'queued' then p_now + v_queued_again
            when 'quota_closed' then p_now + interval '1 minute'
            when 'endpoint_closed' then p_now + interval '1 minute'
            -- What found no headroom in a user's share is the checker's at once; what nobody counts for is not checked all the time.
            else case
                when d.over_share and p_priority is not null then p_now
                when d.uncounted > 0 and d.viewers = 0 then p_now + v_queued_again
                else p_now + v_check_again
            end
        end,
        case
            when p_priority < 0 then p_priority
            else greatest(d.priority_floor, p_priority >> least(coalesce(d.turn - 1, 0), 30)::integer, case
                when p_priority is not null and coalesce(d.turn, 1) = 1 then null
                when d.policy = 'value' then least(999, 1 + floor(40 * ln(1 + greatest(0, d.score))))::integer
                else d.viewers
            end)
        end
    )::livewell_private.decided_item)
    into v_decided
    from decided as d;
    return v_decided;
end $$;
