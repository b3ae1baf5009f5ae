-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_task_function(p_run text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_function pg_catalog.pg_proc;
begin
    select p.* into v_function
    from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = split_part(p_run, '.', 1) and p.proname = split_part(p_run, '.', 2)
        and p.proargtypes = array['timestamptz'::regtype::oid]::oidvector;
    if not found or v_function.proargnames[1] is distinct from 'p_now'
        or v_function.prorettype <> 'jsonb'::regtype or v_function.proretset or v_function.prokind <> 'f'
    then
        raise exception using errcode = 'LWT03',
            message = format('there is no function %s(p_now timestamptz) returns jsonb', p_run),
            hint = 'make it first; its one parameter is called p_now';
    end if;
    if not v_function.prosecdef and v_function.proowner <> current_user::regrole then
        raise exception using errcode = 'LWT03', message = format('function %s is not security definer', p_run),
            hint = 'a task runs with the rights of its function''s owner: alter function … security definer';
    end if;
    if not pg_catalog.has_function_privilege(current_user, v_function.oid, 'execute')
        or not pg_catalog.has_schema_privilege(current_user, v_function.pronamespace, 'usage')
    then
        raise exception using errcode = 'LWT03', message = format('%s may not execute %s', current_user, p_run),
            hint = format('grant usage on its schema and execute on it to %s', current_user);
    end if;
end $function$;
