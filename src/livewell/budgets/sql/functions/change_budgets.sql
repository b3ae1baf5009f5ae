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
    v_providers livewell_private.provider[];
    v_endpoints livewell_private.endpoint[];
    v_keys livewell_private.api_key[];
    v_changes jsonb;
begin
    perform livewell_private.check_declared_budgets(p_declared);
    perform livewell_private.take_lock('budgets');
    select array_agg(p) into v_providers from livewell_private.providers_as_asked(p_declared -> 'providers', p_now) as p;
    select array_agg(e) into v_endpoints from livewell_private.endpoints_as_asked(p_declared -> 'endpoints', p_now) as e;
    select array_agg(k) into v_keys from livewell_private.api_keys_as_asked(p_declared -> 'keys', p_now) as k;
    v_changes := livewell_private.compare_budgets(v_providers, v_endpoints, v_keys);
    perform livewell_private.require_sound_budgets(v_providers, v_endpoints, v_keys);
    perform livewell_private.require_owner_for_calls(v_providers, v_keys);
    if not p_plan_only then
        perform livewell_private.put_providers(v_providers, p_now);
        perform livewell_private.put_endpoints(v_endpoints, p_now);
        perform livewell_private.put_api_keys(v_keys, p_now);
        perform livewell_private.audit_budgets(
            jsonb_path_query_array(v_changes, '$[*] ? (@.change != "same")'), p_reason, p_actor, p_now
        );
        perform livewell_private.reopen_limits(array(
            select c.name from jsonb_to_recordset(v_changes) as c (name text, change text) where c.change <> 'same'
        ));
    end if;
    return query
    select c.thing, c.name, c.change, f.key, case when c.change = 'change' then c.old -> f.key end,
        case c.change when 'change' then c.new -> f.key when 'add' then c.new end
    from jsonb_to_recordset(v_changes) as c (rank integer, thing text, name text, change text, old jsonb, new jsonb)
    left join lateral jsonb_object_keys(c.new) as f (key)
        on c.change = 'change' and not livewell_private.same_budget_value(f.key, c.old -> f.key, c.new -> f.key)
    order by c.rank, c.name, f.key;
exception
    when check_violation or not_null_violation or invalid_text_representation or invalid_datetime_format
        or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range or invalid_parameter_value then
        raise exception using errcode = 'LWB03', message = 'the budgets cannot be so: ' || sqlerrm;
end $$;
