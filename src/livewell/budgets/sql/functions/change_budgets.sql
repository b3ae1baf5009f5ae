-- Plans, and unless only the plan is wanted makes, what a declaration changes: all of it or, when one thing cannot be so,
-- nothing. Changes wait for each other, because the rule on quotas looks at all endpoints of a provider.
-- for: internal
create or replace function livewell_private.change_budgets(
    p_declared jsonb, p_plan_only boolean, p_reason text, p_actor text, p_now timestamptz
) returns table (thing text, name text, change text, field text, old jsonb, new jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_provider constant livewell_private.declared_thing :=
        livewell_private.describe_thing('provider', 'livewell_private.provider', 'LWB03', '{name,created_at,updated_at}');
    v_endpoint constant livewell_private.declared_thing :=
        livewell_private.describe_thing('endpoint', 'livewell_private.endpoint', 'LWB03', '{name,provider,created_at,updated_at}');
    v_key constant livewell_private.declared_thing :=
        livewell_private.describe_thing('key', 'livewell_private.api_key', 'LWB03', '{provider,name,granted,created_at,updated_at}');
    v_providers livewell_private.provider[];
    v_endpoints livewell_private.endpoint[];
    v_keys livewell_private.api_key[];
    v_of_providers livewell_private.declared_change[];
    v_of_endpoints livewell_private.declared_change[];
    v_of_keys livewell_private.declared_change[];
begin
    perform livewell_private.check_declared_budgets(p_declared);
    perform livewell_private.take_lock('budgets');
    select array_agg(n.provider order by d.key), array_agg(livewell_private.compare_declared(v_provider, d.key, o, n.provider) order by d.key)
    into v_providers, v_of_providers
    from jsonb_each(p_declared -> 'providers') as d
    left join livewell_private.provider as o on o.name = d.key
    cross join lateral (select livewell_private.as_declared(
        v_provider, o, jsonb_build_object('name', d.key), livewell_private.budget_asked(v_provider, d.key, d.value), p_now
    ) as provider) as n;
    select array_agg(n.endpoint order by d.key), array_agg(livewell_private.compare_declared(v_endpoint, d.key, o, n.endpoint) order by d.key)
    into v_endpoints, v_of_endpoints
    from jsonb_each(p_declared -> 'endpoints') as d
    left join livewell_private.endpoint as o on o.name = d.key
    cross join lateral (select livewell_private.as_declared(
        v_endpoint, o, jsonb_build_object('name', d.key, 'provider', split_part(d.key, '/', 1)),
        livewell_private.budget_asked(v_endpoint, d.key, d.value), p_now
    ) as endpoint) as n;
    select array_agg(n.api_key order by d.key),
        array_agg(livewell_private.compare_declared(v_key, k.provider || '@' || k.name, o, n.api_key) order by d.key)
    into v_keys, v_of_keys
    from jsonb_each(p_declared -> 'keys') as d
    cross join lateral (select split_part(d.key, '@', 1) as provider, split_part(d.key, '@', 2) as name) as k
    left join livewell_private.api_key as o on o.provider = k.provider and o.name = k.name
    cross join lateral (select livewell_private.as_declared(
        v_key, o, jsonb_build_object('provider', k.provider, 'name', k.name, 'scope', k.name),
        livewell_private.budget_asked(v_key, d.key, d.value), p_now
    ) as api_key) as n;
    perform livewell_private.require_sound_budgets(v_providers, v_endpoints, v_keys);
    perform livewell_private.require_owner_for_calls(v_of_providers || v_of_keys);
    if not p_plan_only then
        perform livewell_private.write_declared(v_provider, v_providers, p_now);
        perform livewell_private.write_declared(v_endpoint, v_endpoints, p_now);
        perform livewell_private.write_declared(v_key, v_keys, p_now);
        perform livewell_private.begin_to_count(v_providers, v_endpoints, v_keys);
        perform livewell_private.audit_declared('provider', 'provider_declared', 'provider_changed', v_of_providers, p_reason, p_actor, p_now);
        perform livewell_private.audit_declared('endpoint', 'endpoint_declared', 'endpoint_changed', v_of_endpoints, p_reason, p_actor, p_now);
        perform livewell_private.audit_declared('api_key', 'api_key_declared', 'api_key_changed', v_of_keys, p_reason, p_actor, p_now);
        perform livewell_private.reopen_limits(array(
            select c.name from unnest(v_of_providers || v_of_endpoints || v_of_keys) as c where c.change <> 'same'
        ));
    end if;
    return query select p.* from livewell_private.planned_changes(v_of_providers || v_of_endpoints || v_of_keys) as p;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format
        or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range or invalid_parameter_value then
        raise exception using errcode = 'LWB03', message = 'the budgets cannot be so: ' || sqlerrm;
end $$;
