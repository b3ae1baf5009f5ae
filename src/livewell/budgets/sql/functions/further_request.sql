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
    v_rooms livewell_private.budget_rooms;
    v_names text[];
    v_scope text;
begin
    perform livewell_private.require_primary();
    select e.* into v_endpoint from livewell_private.endpoint as e where e.name = p_endpoint;
    if not found then
        perform livewell_private.require_endpoint(p_endpoint);
    end if;
    select k.provider || '@' || k.scope into v_scope from livewell_private.api_key as k
    where k.provider = v_endpoint.provider and k.name = p_api_key;
    v_names := array(
        select n.name from unnest(livewell_private.lock_budgets(array[p_endpoint])) as n (name)
        where n.name in (p_endpoint, v_endpoint.provider, v_scope)
    );
    v_now := coalesce(p_now, clock_timestamp());
    v_rooms := livewell_private.limit_rooms(v_names, null, v_now);
    send_within_seconds := extract(epoch from v_endpoint.send_within);
    granted := not coalesce(0 = any (v_rooms.requests), false);
    if granted then
        v_rooms.spent_requests := array_fill(1::bigint, array[cardinality(v_rooms.names)]);
        perform livewell_private.debit_limits(v_rooms, v_now);
        perform livewell_private.book_use(array[v_endpoint.provider], array[1], array[0], array[0], array[0], v_now);
        return next;
        return;
    end if;
    select array_agg(o.opens_at order by n.at), array_agg(o.reason order by n.at) into v_rooms.opens, v_rooms.reasons
    from unnest(v_rooms.names) with ordinality as n (name, at)
    join livewell_private.limit_openings(v_rooms.names, null, v_now) as o on o.name = n.name;
    select r.reason, r.retry_seconds into reason, retry_seconds from livewell_private.refused_permits(v_rooms, null, v_now) as r;
    if retry_seconds <= p_patience_seconds then
        update livewell_private.limit_use as u set next_allowed_at = v_now + make_interval(secs => retry_seconds + 0.5)
        where u.name = p_endpoint and u.next_allowed_at < v_now + make_interval(secs => retry_seconds + 0.5);
    end if;
    return next;
end $$;
