-- Settles calls: tokens are corrected in the windows they were reserved in, bytes and requests booked, outcomes told to the
-- breakers, sizes learned from. What nobody knows stays as it was reserved; what was never sent costs no bytes.
-- for: internal
create or replace function livewell.settle_calls(p_calls livewell.spent_call[], p_now timestamptz)
returns void
language plpgsql security definer
set search_path = '' as $$
declare
    v_endpoints text[];
    v_succeeded boolean[];
    v_started timestamptz[];
begin
    -- All that is written below is locked here, in the one order.
    perform from livewell.limit_use as u
    where u.name = any (array(
        select n.name
        from unnest(p_calls) as c
        cross join lateral (values (c.endpoint), (split_part(c.endpoint, '/', 1)), (split_part(c.endpoint, '/', 1) || '@' || (
            select k.scope from livewell.api_key as k where k.provider = split_part(c.endpoint, '/', 1) and k.name = c.api_key
        ))) as n (name)
        where c.tokens <> c.reserved_tokens or (n.name = c.endpoint and c.outcome in ('failed', 'dead', 'rescued'))
    )) or (u.breaker <> 'closed' and u.name = any (array(select c.endpoint from unnest(p_calls) as c)))
    order by u.name collate "C"
    for no key update;
    perform livewell.correct_tokens(p_calls);
    select array_agg(c.endpoint), array_agg(c.outcome = 'completed'), array_agg(c.started_at)
    into v_endpoints, v_succeeded, v_started
    from unnest(p_calls) as c where c.outcome in ('completed', 'failed', 'dead', 'rescued');
    if v_endpoints is not null then
        perform livewell.count_outcomes(v_endpoints, v_succeeded, v_started, p_now);
        perform livewell.learn_sizes(p_calls, p_now);
    end if;
    perform livewell.book_use(
        array_agg(b.provider), array_agg(b.requests), array_agg(b.bytes), array_agg(b.tokens), array_agg(b.reserved), p_now
    )
    from (
        select split_part(c.endpoint, '/', 1) as provider, count(*) filter (where c.outcome <> 'unsent') as requests,
            sum(case when c.outcome = 'unsent' then 0 else coalesce(c.bytes, c.reserved_bytes, 0) end)::bigint as bytes,
            sum(case when c.outcome = 'unsent' then 0 else coalesce(c.tokens, c.reserved_tokens, 0) end)::bigint as tokens,
            coalesce(sum(c.reserved_bytes), 0)::bigint as reserved
        from unnest(p_calls) as c
        group by 1
    ) as b;
end $$;
