-- Which of the refreshes that are wanted are queued now; the others wait. Under the policy `value` only the best, as many as their
-- endpoint can start soon and their provider's bytes allow; under `viewers` all that fit the queue.
-- One user does not take it all: so many of those that a user asks for may wait, each in its turn. The last quarter of an endpoint's
-- depth is for somebody's first and for what several look at; what only uncounted viewers look at has the first quarter. Under
-- `value`, keys that were never fetched, which may be no keys at all, have a part of what is just in time, more only where nothing else
-- is wanted, and the less the fewer of such keys of their type there were at the provider.
-- for: internal
create or replace function livewell_private.share_headroom(
    p_wanted livewell_private.assessment[], p_headroom livewell_private.endpoint_headroom[], p_priority integer, p_now timestamptz, p_asked bigint[],
    p_askers text[], p_waiting bigint[]
) returns table (item_id bigint, decision text, turn bigint, over_share boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    -- However few of the new keys of a type there were at the provider: in one horizon of so many they are asked for all the same.
    v_all_alike constant boolean := floor(
        extract(epoch from p_now) / extract(epoch from livewell.setting_interval('freshness.horizon'))
    )::bigint % 32 = 0;
    v_per_user constant bigint := livewell.setting_integer('freshness.asked_per_user');
begin
    return query
    with wanted as (
        select
            a.item_id, a.viewers, i.uncounted, a.newest, a.bytes, a.score * t.keys_per_request as worth,
            1::double precision / t.keys_per_request as share, h.endpoint, h.provider, h.depth, h.depth_limit, h.new_keys,
            case when h.policy = 'value' and coalesce(p_priority, 0) >= 0 then greatest(h.soon, case when q.asker is not null then h.at_once end) end as soon,
            case when h.policy = 'value' and p_priority is null then h.bytes end as bytes_left,
            i.fetched_at is null and a.newest is null as is_new, (coalesce(y.new_keys, 0) + 2) / (coalesce(y.new_found, 0) + 2) as tries,
            q.asker, q.waiting, q.at
        from unnest(p_wanted) as a
        join livewell_private.item as i on i.id = a.item_id
        join livewell_private.known_types as t on t.name = a.data_type
        join unnest(p_headroom) as h on h.endpoint = t.endpoint
        left join livewell_private.type_learning as y on y.data_type = a.data_type
        left join unnest(p_asked, p_askers, p_waiting) with ordinality as q (item_id, asker, waiting, at) on q.item_id = a.item_id
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
                w.*, w.waiting + row_number() over (partition by w.asker, w.endpoint order by w.at) as turn,
                coalesce(sum(w.share) filter (where not w.is_new) over (partition by w.endpoint), 0) as known_requests,
                sum(w.share * case when v_all_alike then 1 else w.tries end) filter (where w.is_new) over (
                    partition by w.endpoint order by w.worth desc nulls last, w.viewers desc, w.item_id rows unbounded preceding
                ) - 0.000001 as new_requests
            from wanted as w
        ) as j
    ),
    ranked as (
        select
            s.*, row_number() over (
                partition by s.endpoint, s.over_share order by s.turn, s.worth desc nulls last, s.viewers desc, s.newest nulls first, s.item_id
            ) as rank,
            -- A part of a request each, where several share one; less than a millionth is what such parts lose in the sum.
            sum(s.share) over (
                partition by s.endpoint, s.over_share order by s.worth desc nulls last, s.viewers desc, s.newest nulls first, s.item_id
                rows unbounded preceding
            ) - 0.000001 as requests,
            sum(s.bytes) over (
                partition by s.provider, s.over_share order by s.worth desc nulls last, s.viewers desc, s.newest nulls first, s.item_id
                rows between unbounded preceding and 1 preceding
            ) as bytes_before
        from shared as s
    )
    select r.item_id, case
        when r.over_share then 'waiting'
        when r.rank > r.depth then 'queue_full'
        when r.rank > r.depth - r.kept then 'waiting'
        when r.requests > r.soon and (p_priority is null or r.turn > 1) or r.bytes_before >= r.bytes_left then 'waiting'
        else 'queued'
    end, r.turn, r.over_share
    from ranked as r;
end $$;
