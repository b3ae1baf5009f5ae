-- Makes the kinds a program handles known; what was tuned since stays, only the payload's schema follows the program.
-- for: service
create or replace function livewell.declare_kinds(
    p_kinds jsonb, p_actor text default session_user, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_new text[];
begin
    perform livewell_private.require_primary();
    with created as (
        insert into livewell_private.job_kind (
            kind, queue_group, description, retries, backoff_first, backoff_max, lease, time_limit, concurrency,
            default_priority, payload_schema, created_at, updated_at
        )
        select
            k.kind, coalesce(k.queue_group, 'general'), coalesce(k.description, ''), coalesce(k.retries, 3),
            coalesce(k.backoff_first, interval '10 seconds'), coalesce(k.backoff_max, interval '1 hour'), k.lease,
            k.time_limit, k.concurrency, coalesce(k.default_priority, 5), k.payload_schema, p_now, p_now
        from jsonb_to_recordset(p_kinds) as k (
            kind text, queue_group text, description text, retries integer, backoff_first interval, backoff_max interval,
            lease interval, time_limit interval, concurrency integer, default_priority integer, payload_schema jsonb
        )
        order by k.kind
        on conflict (kind) do nothing
        returning kind
    )
    select array_agg(c.kind) into v_new from created as c;

    update livewell_private.job_kind as k set payload_schema = d.payload_schema, updated_at = p_now
    from jsonb_to_recordset(p_kinds) as d (kind text, payload_schema jsonb)
    where k.kind = d.kind and d.payload_schema is not null and k.payload_schema is distinct from d.payload_schema;
    perform livewell_private.audit_kind_change('kind_declared', n.kind, null, null, null, p_actor, p_now)
    from unnest(v_new) as n (kind);
    return query select n.kind from unnest(v_new) as n (kind);
end $$;
