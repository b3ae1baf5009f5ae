-- What was asked of one type, as its columns take it: null and empty text are the default again, and what goes with a field
-- goes with it: the columns with their table, the cron expression with its strategy.
-- for: internal
create or replace function livewell_private.type_asked(p_name text, p_changes jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_defaults constant jsonb := livewell_private.type_defaults();
    v_asked jsonb;
    v_unknown text;
begin
    if jsonb_typeof(p_changes) is distinct from 'object' then
        perform livewell_private.refuse_type(p_name, 'what is asked must be a JSON object of its fields');
    end if;
    select f.field into v_unknown from jsonb_object_keys(p_changes) as f (field) where not v_defaults ? f.field limit 1;
    if found then
        perform livewell_private.refuse_type(
            p_name, format('unknown field "%s"', v_unknown),
            'one of ' || (select string_agg(f.field, ', ' order by f.field) from jsonb_object_keys(v_defaults) as f (field))
        );
    end if;
    if p_changes ->> 'ttl' ~ '^[\d.\s]*$' then
        perform livewell_private.refuse_type(p_name, 'ttl has no unit', 'write 30 seconds, 1 minute, 1 day');
    end if;
    select coalesce(jsonb_object_agg(c.key, case when c.value in ('null', '""') or c.key in ('fetch_call', 'fields') and c.value = '{}' then v_defaults -> c.key else c.value end), '{}')
    into v_asked
    from jsonb_each(p_changes) as c;
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
