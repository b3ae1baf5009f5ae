-- A type as it would be, with what follows from what was asked: the column of its source time is the field that is declared as it,
-- and a call that is no longer declared takes along what was said with it, as does a read rule.
-- for: internal
create or replace function livewell_private.implied_type(
    p_thing livewell_private.declared_thing, p_old livewell_private.data_type, p_new livewell_private.data_type, p_asked jsonb
) returns livewell_private.data_type
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type := p_new;
begin
    if (p_old).fetch_call is not null and (p_new).fetch_call is null then
        v_type := jsonb_populate_record(p_new, (
            select jsonb_object_agg(d.key, d.value)
            from jsonb_each(p_thing.defaults) as d
            where d.key in ('fields', 'model', 'extra', 'keys_per_request', 'source_rule', 'source_time_column')
                and not p_asked ? d.key
        ));
    end if;
    if not p_asked ? 'source_time_column'
        and (v_type.source_time_column is null or v_type.source_time_column = livewell_private.source_time_field((p_old).fields))
    then
        v_type.source_time_column := case when v_type.table_name is not null then livewell_private.source_time_field(v_type.fields) end;
    end if;
    if v_type.read_rule is distinct from 'claim' and not p_asked ?| array['read_claim', 'read_equals'] then
        v_type.read_claim := null;
        v_type.read_equals := null;
    end if;
    if v_type.read_rule is distinct from 'function' and not p_asked ? 'read_function' then
        v_type.read_function := null;
    end if;
    return v_type;
end $$;
