-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.settle_calls(p_calls livewell.spent_call[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_corrected boolean;
    v_failed boolean;
    v_known boolean;
begin
    -- Mostly every call went well and cost what it was expected to, and then only the ledger is written.
    select bool_or(c.tokens <> c.reserved_tokens), bool_or(c.outcome in ('failed', 'dead', 'rescued')),
        bool_or(c.outcome = 'completed' and (c.bytes is not null or c.tokens is not null))
    into v_corrected, v_failed, v_known
    from unnest(p_calls) as c;
    if v_corrected or v_failed or exists (
        select from livewell.limit_use as u
        where u.breaker <> 'closed' and u.name = any (array(select c.endpoint from unnest(p_calls) as c))
    ) then
        perform livewell.lock_budgets(array(select distinct c.endpoint from unnest(p_calls) as c));
        if v_corrected then
            perform livewell.correct_tokens(p_calls);
        end if;
        perform livewell.count_outcomes(
            array_agg(c.endpoint), array_agg(c.outcome = 'completed'), array_agg(c.started_at), p_now
        )
        from unnest(p_calls) as c where c.outcome in ('completed', 'failed', 'dead', 'rescued');
    end if;
    if v_known then
        perform livewell.learn_sizes(p_calls, p_now);
    end if;
    perform livewell.book_use(
        array_agg(b.provider), array_agg(b.requests), array_agg(b.bytes), array_agg(b.tokens), array_agg(b.reserved), p_now
    )
    from (
        select split_part(e.endpoint, '/', 1) as provider, sum(e.requests)::bigint as requests, sum(e.bytes)::bigint as bytes,
            sum(e.tokens)::bigint as tokens, sum(e.reserved)::bigint as reserved
        from (
            select c.endpoint, count(*) filter (where c.outcome <> 'unsent') as requests,
                coalesce(sum(coalesce(c.bytes, c.reserved_bytes)) filter (where c.outcome <> 'unsent'), 0) as bytes,
                coalesce(sum(coalesce(c.tokens, c.reserved_tokens)) filter (where c.outcome <> 'unsent'), 0) as tokens,
                coalesce(sum(c.reserved_bytes), 0) as reserved
            from unnest(p_calls) as c
            group by c.endpoint
        ) as e
        group by 1
    ) as b;
end $function$;
