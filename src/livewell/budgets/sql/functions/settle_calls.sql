-- Settles calls: tokens are corrected in the windows they were reserved in, bytes and requests booked, outcomes told to the
-- breakers, sizes learned from. What nobody knows stays as it was reserved; what was never sent costs no bytes. An answer that nobody
-- could use is an answer all the same: its endpoint is well. A passenger of another's request made none.
-- for: internal
create or replace function livewell_private.settle_calls(p_calls livewell_private.spent_call[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_sum record;
begin
    -- Mostly every call went well and cost what it was expected to, and then only the ledger is written.
    select array_agg(e.endpoint) as endpoints, array_agg(split_part(e.endpoint, '/', 1)) as providers,
        array_agg(e.requests) as requests, array_agg(e.bytes) as bytes, array_agg(e.tokens) as tokens,
        array_agg(e.reserved) as reserved, bool_or(e.corrected) as corrected, bool_or(e.failed) as failed, bool_or(e.known) as known
    into v_sum
    from (
        select c.endpoint, count(*) filter (where c.outcome <> 'unsent' and c.is_passenger is not true) as requests,
            coalesce(sum(coalesce(c.bytes, c.reserved_bytes)) filter (where c.outcome <> 'unsent'), 0)::bigint as bytes,
            coalesce(sum(coalesce(c.tokens, c.reserved_tokens)) filter (where c.outcome <> 'unsent'), 0) as tokens,
            coalesce(sum(c.reserved_bytes), 0)::bigint as reserved, bool_or(c.tokens <> c.reserved_tokens) as corrected,
            bool_or(c.outcome in ('failed', 'dead', 'rescued')) as failed,
            bool_or(c.outcome = 'completed' and (c.bytes is not null or c.tokens is not null)) as known
        from unnest(p_calls) as c
        group by c.endpoint
    ) as e;
    if v_sum.corrected or v_sum.failed or exists (
        select from livewell_private.limit_use as u where u.breaker <> 'closed' and u.name = any (v_sum.endpoints)
    ) then
        perform livewell_private.lock_budgets(v_sum.endpoints);
        if v_sum.corrected then
            perform livewell_private.correct_tokens(p_calls);
        end if;
        perform livewell_private.count_outcomes(
            array_agg(c.endpoint), array_agg(c.outcome in ('completed', 'answered')), array_agg(c.started_at), p_now
        )
        from unnest(p_calls) as c where c.outcome in ('completed', 'answered', 'failed', 'dead', 'rescued') and c.is_passenger is not true;
    end if;
    if v_sum.known then
        perform livewell_private.learn_sizes(p_calls, p_now);
    end if;
    perform livewell_private.book_use(v_sum.providers, v_sum.requests, v_sum.bytes, v_sum.tokens, v_sum.reserved, p_now);
end $$;
