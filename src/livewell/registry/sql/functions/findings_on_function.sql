-- What keeps a type from calling a user's function: that there is none of that form, that it may not be called, or that it would
-- run with the rights to read other types' tables though it belongs to somebody who lacks them.
-- for: internal
create or replace function livewell_private.findings_on_function(p_function text, p_arguments text, p_result text)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_schema constant text := split_part(p_function, '.', 1);
    v_function pg_catalog.pg_proc;
begin
    select p.* into v_function
    from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = v_schema and p.proname = split_part(p_function, '.', 2) and p.prokind = 'f'
        and pg_catalog.oidvectortypes(p.proargtypes) = p_arguments;
    if not found then
        return query select 'error', 'no_function', format('there is no function %s(%s)', p_function, p_arguments),
            'make it first: ' || format('create function %s(%s) returns %s', p_function, p_arguments, p_result);
        return;
    end if;
    if pg_catalog.pg_get_function_result(v_function.oid) is distinct from p_result then
        return query select 'error', 'function_result',
            format('%s returns %s', p_function, pg_catalog.pg_get_function_result(v_function.oid)), 'it must return ' || p_result;
    end if;
    if not pg_catalog.has_schema_privilege('livewell_reader', v_schema, 'usage') then
        return query select 'error', 'no_right', format('livewell_reader may not use schema %s', v_schema),
            format('grant usage on schema %I to livewell_reader', v_schema);
    end if;
    if not pg_catalog.has_function_privilege('livewell_reader', v_function.oid, 'execute') then
        return query select 'error', 'no_right', format('livewell_reader may not execute %s', p_function),
            format('grant execute on function %s to livewell_reader', v_function.oid::regprocedure);
    end if;
    if not v_function.prosecdef and not pg_catalog.pg_has_role(v_function.proowner, 'livewell_reader', 'member') then
        return query select 'error', 'not_trusted',
            format('%s would run with the rights of livewell_reader, but belongs to %s', p_function, v_function.proowner::regrole),
            format('alter function %s security definer, or give it to livewell_reader', v_function.oid::regprocedure);
    end if;
end $$;
