-- What was asked of one type, as its columns take it: null and empty text are the default again, and what goes with a field
-- goes with it: the columns with their table, the cron expression with its strategy.
-- for: internal
create or replace function livewell_private.type_asked(p_thing livewell_private.declared_thing, p_name text, p_asked jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_asked jsonb := livewell_private.asked_fields(p_thing, p_name, p_asked);
begin
    if v_asked ->> 'ttl' ~ '^[\d.\s]*$' then
        perform livewell_private.refuse_declared('LWR03', 'type', p_name, 'ttl has no unit', 'write 30 seconds, 1 minute, 1 day');
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
end $$;
