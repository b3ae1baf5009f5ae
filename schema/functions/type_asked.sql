-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.type_asked(p_thing livewell.declared_thing, p_name text, p_asked jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_asked jsonb := livewell.asked_fields(p_thing, p_name, p_asked);
begin
    if v_asked ->> 'ttl' ~ '^[\d.\s]*$' then
        perform livewell.refuse_declared('LWR03', 'type', p_name, 'ttl has no unit', 'write 30 seconds, 1 minute, 1 day');
    end if;
    v_asked := v_asked || coalesce((
        select jsonb_object_agg(a.key, p_thing.defaults -> a.key) from jsonb_each(v_asked) as a
        where a.value = '""' or a.key in ('fetch_call', 'fields') and a.value = '{}'
    ), '{}');
    if v_asked ->> 'strategy' = 'on_demand' then
        v_asked := '{"cron": null}' || v_asked;
    end if;
    if v_asked -> 'table_name' = 'null' then
        v_asked := '{"key_column": null, "time_column": null, "ttl_column": null, "source_time_column": null}' || v_asked;
    end if;
    if v_asked -> 'keys_table' = 'null' then
        v_asked := '{"keys_key_column": null, "keys_active_column": null, "keys_exchange_column": null}' || v_asked;
    end if;
    return v_asked;
end $function$;
