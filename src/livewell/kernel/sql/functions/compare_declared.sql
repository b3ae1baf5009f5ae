-- What a row as it would be changes: it is added, changes in some fields, or is the same. Lengths of time are compared as such,
-- however they are written.
-- for: internal
create or replace function livewell_private.compare_declared(
    p_thing livewell_private.declared_thing, p_name text, p_old anyelement, p_new anyelement
) returns livewell_private.declared_change
language plpgsql stable
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
declare
    v_old constant jsonb := to_jsonb(p_old) - p_thing.kept;
    v_new constant jsonb := to_jsonb(p_new) - p_thing.kept;
    v_before constant jsonb := case when p_old is null then p_thing.defaults else v_old end;
    v_fields constant text[] := array(
        select a.attname::text from pg_attribute as a
        where a.attrelid = p_thing.table_name and v_new ? a.attname::text and case a.atttypid
            when 'interval'::regtype then (v_before ->> a.attname)::interval is distinct from (v_new ->> a.attname)::interval
            else v_before -> a.attname is distinct from v_new -> a.attname
        end
        order by a.attname
    );
begin
    if p_old is null then
        return row(p_thing.thing, p_name, 'add', v_fields, null, v_new)::livewell_private.declared_change;
    end if;
    return row(
        p_thing.thing, p_name, case when v_fields = '{}' then 'same' else 'change' end, v_fields, v_old, v_new
    )::livewell_private.declared_change;
end $$;
