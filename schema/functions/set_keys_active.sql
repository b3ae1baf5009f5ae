-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.set_keys_active(p_type text, p_keys text[], p_active boolean, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_stranger text;
    v_changed text[];
begin
    perform livewell.require_primary();
    perform livewell.require_own_catalogue(p_type);
    select k.key into v_stranger from unnest(p_keys) as k (key)
    where not exists (select from livewell.type_key as t where t.data_type = p_type and t.key = k.key)
    limit 1;
    if found then
        raise exception using errcode = 'LWR05', message = format('type %s has no key %L', p_type, left(v_stranger, 100)),
            hint = format('livewell keys list %s', p_type);
    end if;
    with changed as (
        update livewell.type_key as t set active = p_active
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
end $function$;
