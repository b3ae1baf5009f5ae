-- Refuses what presence cannot be read from: neither a table or view with the columns user_id, data_type and key, nor a
-- function without parameters that returns them. A function runs with its owner's rights, or it would get those to read other users' tables.
-- for: internal
create or replace function livewell_private.check_presence_source(p_reads text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_schema constant text := split_part(p_reads, '.', 1);
    v_name constant text := split_part(p_reads, '.', 2);
    v_relation oid;
    v_function pg_catalog.pg_proc;
    v_columns text[];
    v_allowed boolean;
begin
    if p_reads ~ '^pg_(temp|toast)' then
        raise exception using errcode = 'LWP07', message = format('%s is there for one session only', p_reads),
            hint = 'name a table, view or function in a schema that lasts';
    end if;
    v_relation := livewell_private.find_relation(p_reads);
    if v_relation is not null then
        v_columns := array(
            select a.attname::text from pg_catalog.pg_attribute as a where a.attrelid = v_relation and a.attnum > 0 and not a.attisdropped
        );
        v_allowed := pg_catalog.has_table_privilege('livewell_reader', v_relation, 'select')
            and pg_catalog.has_schema_privilege('livewell_reader', v_schema, 'usage');
    else
        select p.* into v_function from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = v_schema and p.proname = v_name and p.pronargs = 0 and p.proretset and p.prokind = 'f';
        if not found then
            raise exception using errcode = 'LWP07', message = format('there is no table, view or function %s() to read presence from', p_reads),
                hint = 'make it first, with the columns user_id, data_type and key';
        end if;
        if not v_function.prosecdef then
            raise exception using errcode = 'LWP07', message = format('function %s is not security definer', p_reads),
                hint = 'it is read with the rights of its owner: alter function … security definer';
        end if;
        v_columns := v_function.proargnames;
        v_allowed := pg_catalog.has_function_privilege('livewell_reader', v_function.oid, 'execute')
            and pg_catalog.has_schema_privilege('livewell_reader', v_schema, 'usage');
    end if;
    if not coalesce(v_columns, '{}') @> array['user_id', 'data_type', 'key'] then
        raise exception using errcode = 'LWP07', message = format('%s lacks one of the columns user_id, data_type and key', p_reads),
            hint = 'name them so, as text';
    end if;
    if not v_allowed then
        raise exception using errcode = 'LWP07', message = format('livewell_reader may not read %s', p_reads),
            hint = format(
                'grant usage on schema %I to livewell_reader; grant %s to livewell_reader', v_schema, case
                    when v_relation is not null then format('select on %I.%I', v_schema, v_name)
                    else format('execute on function %s', v_function.oid::regprocedure)
                end
            );
    end if;
end $$;
