-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.decide_items(p_assessments livewell.assessment[], p_priority integer, p_now timestamp with time zone, p_asked bigint[] DEFAULT NULL::bigint[], p_askers text[] DEFAULT NULL::text[], p_waiting bigint[] DEFAULT NULL::bigint[])
 RETURNS livewell.decided_item[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_hashjoin TO 'on'
AS $function$
declare
    v_check_again constant interval := livewell.setting_interval('freshness.check_again');
    v_queued_again constant interval := livewell.setting_interval('freshness.queued_again');
    v_headroom constant livewell.endpoint_headroom[] := array(
        select h from livewell.refresh_headroom(array(
            select distinct t.endpoint from unnest(p_assessments) as a join livewell.data_type as t on t.name = a.data_type where a.stale
        ), p_priority, p_now) as h
    );
    v_decided livewell.decided_item[];
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
        join livewell.item as i on i.id = a.item_id
        join livewell.data_type as t on t.name = a.data_type
        left join unnest(v_headroom) as h on h.endpoint = t.endpoint
    ),
    decided as (
        select a.*, coalesce(s.decision, a.decision) as final, s.turn, s.over_share
        from alone as a
        left join livewell.share_headroom(
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
    )::livewell.decided_item)
    into v_decided
    from decided as d;
    return v_decided;
end $function$;
