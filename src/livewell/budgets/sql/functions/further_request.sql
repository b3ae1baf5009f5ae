-- One request more for a fetch that is under way, a page or a redirect: debited at once from every window of its endpoint, its
-- account and its key, or why not and when to ask again. It takes no place among the calls at once, because its fetch has one
-- and sends one request at a time. Who is refused and has the patience to wait is served before new jobs are: claims leave the
-- endpoint alone until a moment after it opens.
-- for: service
create or replace function livewell.further_request(
    p_endpoint text, p_api_key text default null, p_patience_seconds double precision default 0, p_now timestamptz default null
) returns table (granted boolean, send_within_seconds double precision, retry_seconds double precision, reason text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_endpoint livewell_private.endpoint;
    v_now timestamptz;
    v_limits livewell_private.limit_headroom[];
    v_limit livewell_private.limit_headroom;
    v_spending livewell_private.spending;
begin
    perform livewell_private.require_primary();
    select e.* into v_endpoint from livewell_private.endpoint as e where e.name = p_endpoint;
    if not found then
        perform livewell_private.require_endpoint(p_endpoint);
    end if;
    v_spending.endpoint := p_endpoint;
    v_spending.provider := v_endpoint.provider;
    v_spending.requests := 1;
    v_spending.tokens := 0;
    select k.provider || '@' || k.scope into v_spending.key_limit from livewell_private.api_key as k
    where k.provider = v_endpoint.provider and k.name = p_api_key;
    perform livewell_private.lock_budgets(array[p_endpoint]);
    v_now := coalesce(p_now, clock_timestamp());
    v_limits := livewell_private.limits_now(array[p_endpoint, v_spending.provider, v_spending.key_limit], null, v_now);
    send_within_seconds := extract(epoch from v_endpoint.send_within);
    granted := true;
    foreach v_limit in array v_limits loop
        granted := granted and v_limit.requests is distinct from 0;
    end loop;
    if granted then
        perform livewell_private.debit_limits(v_limits, array[v_spending], v_now);
        perform livewell_private.book_use(array[v_endpoint.provider], array[1], array[0], array[0], array[0], v_now);
        return next;
        return;
    end if;
    select r.reason, r.retry_seconds into reason, retry_seconds from livewell_private.refused_permits(v_limits, null, v_now) as r;
    if retry_seconds <= p_patience_seconds then
        update livewell_private.limit_use as u set next_allowed_at = v_now + make_interval(secs => retry_seconds + 0.5)
        where u.name = p_endpoint and u.next_allowed_at < v_now + make_interval(secs => retry_seconds + 0.5);
    end if;
    return next;
end $$;
