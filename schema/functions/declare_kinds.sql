-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.declare_kinds(p_kinds jsonb, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_thing constant livewell.declared_thing := livewell.declared_kind();
    v_new livewell.declared_change[];
begin
    perform livewell.require_primary();
    with created as (
        insert into livewell.job_kind as k
        select n.* from jsonb_array_elements(p_kinds) as d (asked)
        cross join lateral livewell.as_declared(
            v_thing, null::livewell.job_kind, jsonb_build_object('kind', d.asked -> 'kind'),
            livewell.asked_fields(v_thing, d.asked ->> 'kind', d.asked - 'kind'), p_now
        ) as n
        order by n.kind
        on conflict (kind) do nothing
        returning k as kind
    )
    select array_agg(livewell.compare_declared(v_thing, (c.kind).kind, null::livewell.job_kind, c.kind)) into v_new from created as c;

    update livewell.job_kind as k set payload_schema = d.payload_schema, updated_at = p_now
    from jsonb_to_recordset(p_kinds) as d (kind text, payload_schema jsonb)
    where k.kind = d.kind and d.payload_schema is not null and k.payload_schema is distinct from d.payload_schema;
    perform livewell.audit_declared('job_kind', 'kind_declared', 'kind_changed', v_new, null, p_actor, p_now);
    return query select n.name from unnest(v_new) as n;
end $function$;

grant execute on function livewell.declare_kinds(jsonb,text,timestamp with time zone) to livewell_service;
