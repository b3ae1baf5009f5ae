-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.acquire_permits(p_endpoint text, p_holder text, p_permits integer DEFAULT 1, p_tokens integer DEFAULT NULL::integer, p_bytes bigint DEFAULT NULL::bigint, p_api_key text DEFAULT NULL::text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(block_id uuid, permits integer, api_key text, key_source text, send_within_seconds double precision, lease_seconds double precision, retry_seconds double precision, reason text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
    v_endpoint livewell.endpoint;
    v_names text[];
    v_now timestamptz;
    v_opens_at timestamptz;
    v_requests bigint;
    v_tokens bigint;
    v_bytes bigint;
    v_scopes text[];
    v_scope_rooms bigint[];
    v_scope text;
    v_flights livewell.flight[];
begin
    perform livewell.require_primary();
    if p_permits is null or p_permits < 1 or p_holder is null or p_tokens < 0 or p_bytes < 0 then
        raise exception using errcode = 'LWB05', message = 'permits are asked for by a holder, one at least, and cost nothing negative';
    end if;
    select e.* into v_endpoint from livewell.endpoint as e where e.name = p_endpoint;
    if not found then
        perform livewell.require_endpoint(p_endpoint);
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
        select k.provider || '@' || k.scope into v_scope from livewell.api_key as k
        where k.provider = v_endpoint.provider and k.name = p_api_key and k.enabled;
        if not found then
            raise exception using errcode = 'LWB05', message = format('%s has no key %s', v_endpoint.provider, p_api_key),
                hint = 'livewell keys list';
        end if;
    end if;

    v_names := livewell.lock_budgets(array[p_endpoint]);
    v_now := coalesce(p_now, clock_timestamp());
    v_flights := livewell.flights(array[v_endpoint.provider], v_now);
    send_within_seconds := extract(epoch from v_endpoint.send_within);
    lease_seconds := extract(epoch from livewell.setting_interval('budgets.permit_lease'));
    select
        min(r.requests) filter (where r.kind <> 'keys'), min(r.tokens) filter (where r.kind <> 'keys'),
        max(r.reason) filter (where r.requests = 0 and r.kind <> 'keys'),
        array_agg(r.name) filter (where r.kind = 'keys'),
        array_agg(least(r.requests, r.tokens / nullif(p_tokens, 0))) filter (where r.kind = 'keys'),
        coalesce(max(r.opens_at) filter (where r.kind <> 'keys'), min(r.opens_at) filter (where r.kind = 'keys'))
    into v_requests, v_tokens, reason, v_scopes, v_scope_rooms, v_opens_at
    from livewell.limit_rooms(v_names, v_flights, v_now) as r;
    select q.room into v_bytes from livewell.quota_rooms(array[v_endpoint.provider], v_flights, v_now) as q;
    permits := least(p_permits, v_requests, v_tokens / nullif(p_tokens, 0), v_bytes / nullif(p_bytes, 0));
    if permits > 0 and p_api_key is not null then
        api_key := p_api_key;
        permits := least(permits, v_scope_rooms[array_position(v_scopes, v_scope)]);
        reason := case when permits = 0 then 'key' end;
    elsif permits > 0 and v_scopes is not null then
        select k.api_key, k.scope, least(permits, k.room) into api_key, v_scope, permits
        from livewell.choose_key(v_endpoint.provider, v_scopes, v_scope_rooms) as k;
        if not found then
            permits := 0;
            reason := 'key';
        end if;
    end if;
    if coalesce(permits, 0) = 0 then
        permits := 0;
        reason := coalesce(reason, case when v_tokens < p_tokens then 'tokens' when v_bytes < p_bytes then 'bytes' else 'requests' end);
        retry_seconds := case reason
            when 'concurrent' then null
            when 'tokens' then 1
            when 'bytes' then 5
            when 'disabled' then 5
            when 'maintenance' then 5
            else coalesce(case when v_opens_at > v_now then extract(epoch from v_opens_at - v_now) end, 1)
        end;
        api_key := null;
        return next;
        return;
    end if;

    reason := null;
    block_id := gen_random_uuid();
    insert into livewell.permit_block (id, endpoint, api_key, holder, tokens, bytes, open, granted_at, lease_until)
    values (
        block_id, p_endpoint, api_key, p_holder, p_tokens, p_bytes, array(select generate_series(1, permits)), v_now,
        v_now + make_interval(secs => lease_seconds)
    );
    v_names := array(select n.name from unnest(v_names) as n (name) where n.name not like '%@%' or n.name = v_scope);
    perform livewell.debit_limits(
        v_names, array_fill(permits::bigint, array[cardinality(v_names)]),
        array_fill(permits * p_tokens::bigint, array[cardinality(v_names)]), v_now
    );
    if exists (select from livewell.limit_use as u where u.name = p_endpoint and u.breaker = 'open') then
        perform livewell.begin_probes(array[p_endpoint], v_now);
    end if;
    if v_bytes is not null then
        perform livewell.draw_on_quotas(array[v_endpoint.provider], array[permits * p_bytes], v_now);
    end if;
    if api_key is not null then
        update livewell.api_key as k set granted = k.granted + permits
        where k.provider = v_endpoint.provider and k.name = api_key
        returning k.source into key_source;
    end if;
    return next;
end $function$;

grant execute on function livewell.acquire_permits(text,text,integer,integer,bigint,text,timestamp with time zone) to livewell_service;
