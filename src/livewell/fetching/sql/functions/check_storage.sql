-- Whether the table of a type can take what its model brings, before anything is fetched: each column with what the model says of it
-- ({"price": {"type": "number", "nullable": false}, …}; of the types of JSON, and timestamp, date and any). No row is no finding.
-- for: service
create or replace function livewell.check_storage(p_type text, p_columns jsonb)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_type livewell_private.data_type;
    v_bad text;
begin
    select min(c.key) into v_bad
    from jsonb_each(case when jsonb_typeof(p_columns) = 'object' then p_columns else '{"": null}' end) as c
    where coalesce(c.value ->> 'type', '')
        not in ('string', 'integer', 'number', 'boolean', 'object', 'array', 'timestamp', 'date', 'any');
    if v_bad is not null then
        raise exception using errcode = 'LWN02', message = format('what a model says of column "%s" cannot be so', v_bad),
            hint = 'an object: {"price": {"type": "number", "nullable": false}}';
    end if;
    perform livewell_private.require_type(p_type);
    select t.* into v_type from livewell_private.data_type as t where t.name = p_type;
    if v_type.table_name is null then
        return;
    end if;
    if livewell_private.find_relation(v_type.table_name) is null then
        return query select 'error', 'no_table', format('there is no table %s', v_type.table_name), 'create it';
        return;
    end if;
    return query
    select f.* from livewell_private.findings_on_columns(v_type, p_columns) as f
    union all
    select f.* from livewell_private.findings_on_key(v_type, p_columns) as f
    union all
    select f.* from livewell_private.findings_on_triggers(v_type) as f
    order by 1, 2, 3;
end $$;
