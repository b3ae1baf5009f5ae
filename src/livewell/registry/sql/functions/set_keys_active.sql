-- Enables or disables keys of Livewell's catalogue of a type: disabled ones are no longer walked by scheduled refreshes. All of
-- them or, when one is not there, nothing. Answers how many changed.
-- for: owner
create or replace function livewell.set_keys_active(
    p_type text, p_keys text[], p_active boolean, p_reason text default null, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_stranger text;
    v_changed text[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_own_catalogue(p_type);
    select k.key into v_stranger from unnest(p_keys) as k (key)
    where not exists (select from livewell_private.type_key as t where t.data_type = p_type and t.key = k.key)
    limit 1;
    if found then
        raise exception using errcode = 'LWR05', message = format('type %s has no key %L', p_type, left(v_stranger, 100)),
            hint = format('livewell keys list %s', p_type);
    end if;
    with changed as (
        update livewell_private.type_key as t set active = p_active
        where t.data_type = p_type and t.key = any (p_keys) and t.active <> p_active
        returning t.key
    )
    select array_agg(c.key order by c.key) into v_changed from changed as c;
    if v_changed is not null then
        perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
            'event', case when p_active then 'keys_enabled' else 'keys_disabled' end, 'table_name', 'type_key', 'record_id', p_type,
            'operation', 'update', 'reason', p_reason, 'actor', p_actor,
            'detail', jsonb_build_object('keys', v_changed[:1000], 'count', cardinality(v_changed))
        )), p_now);
    end if;
    return coalesce(cardinality(v_changed), 0);
end $$;
