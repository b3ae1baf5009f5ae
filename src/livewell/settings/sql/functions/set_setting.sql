-- Changes one setting: checks it, records who and why, and tells running processes. False when it already was so.
-- The settings it is compared with are locked too, by name, so that two changes cannot each be right and both be wrong.
-- for: service
create or replace function livewell.set_setting(
    p_name text, p_value text, p_actor text default null, p_reason text default null,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_setting livewell_private.setting;
    v_value text;
    v_problem text;
    v_actor text := coalesce(nullif(p_actor, ''), session_user);
begin
    perform livewell_private.require_primary();
    perform from livewell_private.setting s
    where p_name in (s.name, s.less_than)
        or s.name = (select compared.less_than from livewell_private.setting compared where compared.name = p_name)
    order by s.name
    for update;
    select s.* into v_setting from livewell_private.setting s where s.name = p_name;
    if not found then
        perform livewell_private.refuse_unknown_setting(p_name);
    end if;

    v_value := livewell_private.normalise_setting(v_setting.type, p_value);
    v_problem := livewell_private.setting_problem(v_setting, v_value);
    if v_problem is not null then
        raise exception using
            errcode = 'LWS02',
            message = case
                when v_setting.sensitive then format('setting %s cannot be that', p_name)
                else format('setting %s cannot be %s', p_name, coalesce(quote_literal(p_value), 'nothing'))
            end,
            hint = v_problem;
    end if;
    if v_value = v_setting.value then
        return false;
    end if;

    update livewell_private.setting s set value = v_value, updated_at = p_now, updated_by = v_actor where s.name = p_name;
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', 'setting_changed', 'table_name', 'setting', 'record_id', p_name, 'operation', 'update',
        'old', jsonb_build_object('value', case when v_setting.sensitive then '•••' else v_setting.value end),
        'new', jsonb_build_object('value', case when v_setting.sensitive then '•••' else v_value end),
        'actor', v_actor, 'reason', p_reason)), p_now);
    perform livewell_private.notify('livewell_settings', p_name);
    return true;
end
$$;
