-- Grants permits by hand, as many as fit now up to the number asked for, under every limit of the endpoint, its account, its
-- keys and its quota: all or nothing for each. Reserves the tokens and bytes of each. Always answers with one row; when
-- nothing is granted it says why and when to ask again. Who makes several calls for one job names the key it keeps to. The
-- clock is read after the locks are held: who waited for them starts later than it asked.
-- for: service
create or replace function livewell.acquire_permits(
    p_endpoint text, p_holder text, p_permits integer default 1, p_tokens integer default null, p_bytes bigint default null,
    p_api_key text default null, p_now timestamptz default null
) returns table (
    block_id uuid, permits integer, api_key text, key_source text, send_within_seconds double precision,
    lease_seconds double precision, retry_seconds double precision, reason text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_endpoint livewell_private.endpoint;
    v_now timestamptz;
    v_headroom livewell_private.headroom;
    v_limit livewell_private.limit_headroom;
    v_spending livewell_private.spending;
    v_requests bigint;
    v_tokens bigint;
    v_bytes bigint;
    v_names text[];
begin
    perform livewell_private.require_primary();
    if p_permits is null or p_permits < 1 or p_holder is null or p_tokens < 0 or p_bytes < 0 then
        raise exception using errcode = 'LWB05', message = 'permits are asked for by a holder, one at least, and cost nothing negative';
    end if;
    select e.* into v_endpoint from livewell_private.endpoint as e where e.name = p_endpoint;
    if not found then
        perform livewell_private.require_endpoint(p_endpoint);
    end if;
    p_tokens := coalesce(p_tokens, v_endpoint.max_tokens, case
        when coalesce(v_endpoint.tokens_per_minute, v_endpoint.tokens_per_hour) is not null then 1000 else 0 end);
    p_bytes := coalesce(p_bytes, v_endpoint.expected_bytes);
    if p_tokens > least(v_endpoint.tokens_per_minute, v_endpoint.tokens_per_hour) then
        raise exception using errcode = 'LWB05', message = format(
            '%s tokens never fit %s, which allows %s', p_tokens, p_endpoint,
            least(v_endpoint.tokens_per_minute, v_endpoint.tokens_per_hour)
        );
    end if;

    if p_api_key is not null then
        perform from livewell_private.api_key as k where k.provider = v_endpoint.provider and k.name = p_api_key and k.enabled;
        if not found then
            raise exception using errcode = 'LWB05', message = format('%s has no key %s', v_endpoint.provider, p_api_key),
                hint = 'livewell api-keys list';
        end if;
    end if;

    v_names := livewell_private.lock_budgets(array[p_endpoint]);
    v_now := coalesce(p_now, clock_timestamp());
    v_headroom := livewell_private.headroom_now(
        v_names, array[v_endpoint.provider], livewell_private.calls_in_flight(array[v_endpoint.provider], v_now), v_now
    );
    foreach v_limit in array v_headroom.limits loop
        if v_limit.kind <> 'keys' then
            v_requests := least(v_requests, v_limit.requests);
            v_tokens := least(v_tokens, v_limit.tokens);
        end if;
    end loop;
    v_bytes := (v_headroom.quotas[1]).bytes;
    send_within_seconds := extract(epoch from v_endpoint.send_within);
    lease_seconds := extract(epoch from livewell.setting_interval('budgets.permit_lease'));
    permits := least(p_permits, v_requests, v_tokens / nullif(p_tokens, 0), v_bytes / nullif(p_bytes, 0));
    if permits > 0 and v_headroom.has_keys then
        select k.api_key, k.key_limit, least(permits, r.requests) into api_key, v_spending.key_limit, permits
        from livewell_private.keys_of(v_headroom.limits, p_api_key) as k
        cross join lateral (select least(k.requests, k.tokens / nullif(p_tokens, 0)) as requests) as r
        where r.requests is null or r.requests > 0
        order by r.requests desc nulls first, k.granted, k.api_key
        limit 1;
        reason := case when permits > 0 then null else 'key' end;
    end if;
    if coalesce(permits, 0) = 0 then
        permits := 0;
        select r.reason, r.retry_seconds into reason, retry_seconds
        from livewell_private.refused_permits(v_headroom.limits, coalesce(reason, case
            when v_requests = 0 then null
            when v_tokens < p_tokens then 'tokens'
            when v_bytes < p_bytes then 'bytes'
        end), v_now) as r;
        return next;
        return;
    end if;

    block_id := gen_random_uuid();
    insert into livewell_private.permit_block (id, endpoint, api_key, holder, tokens, bytes, open, granted_at, lease_until)
    values (
        block_id, p_endpoint, api_key, p_holder, p_tokens, p_bytes, array(select generate_series(1, permits)), v_now,
        v_now + make_interval(secs => lease_seconds)
    );
    v_spending.endpoint := p_endpoint;
    v_spending.provider := v_endpoint.provider;
    v_spending.api_key := api_key;
    v_spending.requests := permits;
    v_spending.tokens := permits * p_tokens::bigint;
    v_spending.bytes := permits * p_bytes;
    perform livewell_private.spend_budgets(v_headroom, array[v_spending], v_now);
    if api_key is not null then
        select k.source into key_source from livewell_private.api_key as k where k.provider = v_endpoint.provider and k.name = api_key;
    end if;
    return next;
end $$;
