-- What is done about looks, in one statement: a refresh is queued, or when the item is looked at again and why. Every look moves
-- its item on, or what is not worth its bytes would keep the rest from being reached. Under the policy `value` only the best are
-- queued, as many as their endpoint can start soon and their provider's bytes allow; under `viewers` all that fit the queue. What
-- waits because its refresh failed waits for its time, whoever asks.
-- One user does not take it all. Of those a user asks for the first has the whole priority, each further one that waits half of it, so
-- that everybody's first goes before anybody's second; so many may wait. The last quarter of an endpoint's depth is for somebody's
-- first and for what several look at; what only uncounted viewers look at has the first quarter. Under `value`, keys that were never
-- fetched, which may be no keys at all, have a part of what is just in time, more only where nothing else is wanted, and the less the
-- fewer of such keys of their type there were at the provider.
-- for: internal
create or replace function livewell_private.decide_items(
    p_looks livewell_private.look[], p_priority integer, p_now timestamptz, p_asked bigint[] default null, p_askers text[] default null,
    p_waiting bigint[] default null
) returns livewell_private.decided_item[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_decided livewell_private.decided_item[];
    v_look_again constant interval := livewell.setting_interval('freshness.look_again');
    v_queued_again constant interval := livewell.setting_interval('freshness.queued_again');
    -- However few of the new keys of a type there were at the provider: in one horizon of so many they are asked for all the same.
    v_all_alike constant boolean := floor(
        extract(epoch from p_now) / extract(epoch from livewell.setting_interval('freshness.horizon'))
    )::bigint % 32 = 0;
    v_per_user constant bigint := livewell.setting_integer('freshness.asked_per_user');
begin
    with concerned as (
        select e.name, e.provider, e.depth_limit, e.state = 'active' and p.state = 'active' as active, livewell_private.policy_of(p) as policy
        from livewell_private.endpoint as e
        join livewell_private.provider as p on p.name = e.provider
        where e.name in (select t.endpoint from unnest(p_looks) as l join livewell_private.data_type as t on t.name = l.data_type where l.stale)
    ),
    open as materialized (
        select c.provider, livewell.quota_open(c.provider, p_priority, p_now) as open, r.bytes as room
        from (select distinct c.provider from concerned as c where c.active) as c
        left join unnest(livewell_private.quotas_now(
            array(select c.provider from concerned as c), livewell_private.calls_in_flight(array(select c.provider from concerned as c), p_now), p_now
        )) as r on r.provider = c.provider
    ),
    judged as (
        select
            l.*, l.score * t.keys_per_request as worth, 1.0 / t.keys_per_request as share, t.endpoint, c.provider, t.priority_floor, m.depth,
            case when c.policy = 'value' and coalesce(p_priority, 0) >= 0 then greatest(m.soon, case when a.asker is not null then m.at_once end) end as soon,
            m.new_keys,
            i.fetched_at is null and l.newest is null as is_new, (coalesce(y.new_keys, 0) + 2) / (coalesce(y.new_found, 0) + 2) as tries,
            case when c.policy = 'value' and p_priority is null then o.room end as room, c.policy,
            case
                when not l.stale then 'fresh'
                when i.failed_refreshes > 0 and i.decision = 'refresh_failed' and i.due_at > p_now then 'refresh_failed'
                when l.opens_at is not null then 'gate_closed'
                when l.error is not null and i.failed_check_at > p_now - l.ttl then 'check_failed'
                when c.active is not true then 'endpoint_closed'
                when o.open is not true then 'quota_closed'
                when c.policy = 'value' and coalesce(p_priority, 0) >= 0 and l.newest is not null and l.error is null and l.score <= 0 then 'not_worth'
                else 'queued'
            end as decision,
            i.failed_check_at, i.due_at, i.uncounted, c.depth_limit, a.asker, a.waiting, a.at
        from unnest(p_looks) as l
        join livewell_private.item as i on i.id = l.item_id
        join livewell_private.data_type as t on t.name = l.data_type
        left join livewell_private.type_learning as y on y.data_type = l.data_type
        left join concerned as c on c.name = t.endpoint
        left join open as o on o.provider = c.provider
        left join livewell_private.refresh_rooms(array(select c.name from concerned as c)) as m on m.endpoint = t.endpoint
        left join unnest(p_asked, p_askers, p_waiting) with ordinality as a (item_id, asker, waiting, at) on a.item_id = l.item_id
    ),
    shared as (
        select
            j.*, coalesce(j.turn > least(v_per_user, ceil(j.depth_limit / 4.0)), false)
            or j.soon is not null and j.is_new and j.new_requests > greatest(j.new_keys, j.soon - j.known_requests) as over_share,
            -- How much of the depth is not for such a refresh.
            j.depth_limit - ceil(j.depth_limit * case
                when p_priority < 0 or j.turn = 1 or j.viewers > 1 then 1
                when p_priority is null and j.uncounted > 0 and j.viewers = 0 then 0.25
                when p_priority is null or j.turn > 1 then 0.75
                else 1
            end) as kept
        from (
            select
                j.*, j.waiting + row_number() over (partition by j.asker, j.endpoint, j.decision order by j.at) as turn,
                coalesce(sum(j.share) filter (where not j.is_new) over (partition by j.endpoint, j.decision), 0) as known_requests,
                sum(j.share * case when v_all_alike then 1 else j.tries end) filter (where j.is_new) over (
                    partition by j.endpoint, j.decision order by j.worth desc nulls last, j.viewers desc, j.item_id rows unbounded preceding
                ) - 0.000001 as new_requests
            from judged as j
        ) as j
    ),
    ranked as (
        select
            j.*, row_number() over (
                partition by j.endpoint, j.decision, j.over_share
                order by j.turn, j.worth desc nulls last, j.viewers desc, j.newest nulls first, j.item_id
            ) as rank,
            -- A part of a request each, where several share one; less than a millionth is what such parts lose in the sum.
            sum(j.share) over (
                partition by j.endpoint, j.decision, j.over_share order by j.worth desc nulls last, j.viewers desc, j.newest nulls first, j.item_id
                rows unbounded preceding
            ) - 0.000001 as requests,
            sum(j.bytes) over (
                partition by j.provider, j.decision, j.over_share order by j.worth desc nulls last, j.viewers desc, j.newest nulls first, j.item_id
                rows between unbounded preceding and 1 preceding
            ) as bytes_before
        from shared as j
    ),
    decided as (
        select r.*, case
            when r.decision <> 'queued' then r.decision
            when r.over_share then 'waiting'
            when r.rank > r.depth then 'queue_full'
            when r.rank > r.depth - r.kept then 'waiting'
            when r.requests > r.soon and (p_priority is null or r.turn > 1) or r.bytes_before >= r.room then 'waiting'
            else 'queued'
        end as final
        from ranked as r
    )
    select array_agg(row (
        d.item_id, d.data_type, d.key, d.newest, d.ttl, d.error, d.score, d.endpoint, d.final,
        case d.final
            when 'fresh' then greatest(d.newest + d.ttl, p_now + least(d.ttl, interval '1 minute') / 60)
            when 'gate_closed' then greatest(d.opens_at, p_now + interval '1 second')
            when 'check_failed' then d.failed_check_at + d.ttl
            when 'refresh_failed' then d.due_at
            when 'not_worth' then p_now + least(greatest(d.ttl / 4, v_look_again), interval '5 minutes')
            when 'queued' then p_now + v_queued_again
            when 'quota_closed' then p_now + interval '1 minute'
            when 'endpoint_closed' then p_now + interval '1 minute'
            -- What found no room in a user's share is the checker's at once; what nobody counts for is not looked at all the time.
            else case when d.over_share and p_priority is not null then p_now when d.uncounted > 0 and d.viewers = 0 then p_now + v_queued_again else p_now + v_look_again end
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
