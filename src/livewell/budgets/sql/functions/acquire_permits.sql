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
    v_rooms livewell_private.budget_rooms;
    v_own integer;
    v_account integer;
    v_tokens bigint;
    v_bytes bigint;
    v_scopes text[];
    v_scope_rooms bigint[];
    v_scope text;
    v_names text[];
    v_name text;
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
        select k.provider || '@' || k.scope into v_scope from livewell_private.api_key as k
        where k.provider = v_endpoint.provider and k.name = p_api_key and k.enabled;
        if not found then
            raise exception using errcode = 'LWB05', message = format('%s has no key %s', v_endpoint.provider, p_api_key),
                hint = 'livewell api-keys list';
        end if;
    end if;

    v_names := livewell_private.lock_budgets(array[p_endpoint]);
    v_now := coalesce(p_now, clock_timestamp());
    v_rooms := livewell_private.rooms_now(v_names, v_now);
    v_own := array_position(v_rooms.names, p_endpoint);
    v_account := array_position(v_rooms.names, nullif(v_endpoint.provider, p_endpoint));
    v_tokens := least(v_rooms.tokens[v_own], v_rooms.tokens[v_account]);
    v_bytes := v_rooms.bytes[1];
    send_within_seconds := extract(epoch from v_endpoint.send_within);
    lease_seconds := extract(epoch from livewell.setting_interval('budgets.permit_lease'));
    permits := least(
        p_permits, v_rooms.requests[v_own], v_rooms.requests[v_account], v_tokens / nullif(p_tokens, 0), v_bytes / nullif(p_bytes, 0)
    );
    if permits > 0 and 'keys' = any (v_rooms.kinds) then
        select array_agg(r.name), array_agg(least(r.requests, r.tokens / nullif(p_tokens, 0))) into v_scopes, v_scope_rooms
        from unnest(v_rooms.names, v_rooms.kinds, v_rooms.requests, v_rooms.tokens) as r (name, kind, requests, tokens)
        where r.kind = 'keys';
        if p_api_key is not null then
            api_key := p_api_key;
            permits := least(permits, v_scope_rooms[array_position(v_scopes, v_scope)]);
        else
            select k.api_key, k.scope, least(permits, k.room) into api_key, v_scope, permits
            from livewell_private.choose_key(v_endpoint.provider, v_scopes, v_scope_rooms) as k;
        end if;
        reason := case when permits > 0 then null else 'key' end;
    end if;
    if coalesce(permits, 0) = 0 then
        permits := 0;
        api_key := null;
        select r.reason, r.retry_seconds into reason, retry_seconds
        from livewell_private.refused_permits(v_rooms, coalesce(reason, case
            when 0 in (v_rooms.requests[v_own], v_rooms.requests[v_account]) then null
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
    foreach v_name in array array[p_endpoint, nullif(v_endpoint.provider, p_endpoint), v_scope] loop
        v_own := array_position(v_rooms.names, v_name);
        if v_own is not null then
            v_rooms.spent_requests[v_own] := permits;
            v_rooms.spent_tokens[v_own] := permits * p_tokens::bigint;
        end if;
    end loop;
    if v_bytes is not null then
        v_rooms.spent_bytes := array[permits * p_bytes];
    end if;
    perform livewell_private.spend_budgets(v_rooms, null, v_now);
    if api_key is not null then
        update livewell_private.api_key as k set granted = k.granted + permits
        where k.provider = v_endpoint.provider and k.name = api_key
        returning k.source into key_source;
    end if;
    return next;
end $$;
