-- Makes the kinds a program handles known; what was tuned since stays, only the payload's schema follows the program.
-- for: service
create or replace function livewell.declare_kinds(
    p_kinds jsonb, p_actor text default session_user, p_now timestamptz default clock_timestamp()
) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_thing constant livewell_private.declared_thing := livewell_private.declared_kind();
    v_new livewell_private.declared_change[];
begin
    perform livewell_private.require_primary();
    with created as (
        insert into livewell_private.job_kind as k
        select n.* from jsonb_array_elements(p_kinds) as d (asked)
        cross join lateral livewell_private.as_declared(
            v_thing, null::livewell_private.job_kind, jsonb_build_object('kind', d.asked -> 'kind'),
            livewell_private.asked_fields(v_thing, d.asked ->> 'kind', d.asked - 'kind'), p_now
        ) as n
        order by n.kind
        on conflict (kind) do nothing
        returning k as kind
    )
    select array_agg(livewell_private.compare_declared(v_thing, (c.kind).kind, null::livewell_private.job_kind, c.kind)) into v_new from created as c;

    update livewell_private.job_kind as k set payload_schema = d.payload_schema, updated_at = p_now
    from jsonb_to_recordset(p_kinds) as d (kind text, payload_schema jsonb)
    where k.kind = d.kind and d.payload_schema is not null and k.payload_schema is distinct from d.payload_schema;
    perform livewell_private.audit_declared('job_kind', 'kind_declared', 'kind_changed', v_new, null, p_actor, p_now);
    return query select n.name from unnest(v_new) as n;
end $$;
