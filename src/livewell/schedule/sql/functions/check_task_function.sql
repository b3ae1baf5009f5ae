-- Refuses what a task cannot run. A stranger's function runs with its owner's rights: one that took the caller's would get those
-- to read other users' tables.
-- for: internal
create or replace function livewell_private.check_task_function(p_run text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_function pg_catalog.pg_proc;
begin
    if p_run ~ '^pg_(temp|toast)' then
        raise exception using errcode = 'LWT03', message = format('%s is there for one session only', p_run),
            hint = 'make the function in a schema that lasts';
    end if;
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
    if not v_function.prosecdef and v_function.pronamespace <> all ('{livewell,livewell_private}'::regnamespace[]) then
        raise exception using errcode = 'LWT03', message = format('function %s is not security definer', p_run),
            hint = 'a task runs with the rights of its function''s owner: alter function … security definer';
    end if;
    if v_function.pronamespace <> all ('{livewell,livewell_private}'::regnamespace[]) and not (
        pg_catalog.has_function_privilege('livewell_reader', v_function.oid, 'execute')
        and pg_catalog.has_schema_privilege('livewell_reader', v_function.pronamespace, 'usage')
    ) then
        raise exception using errcode = 'LWT03', message = format('livewell_reader may not execute %s', p_run),
            hint = format(
                'grant usage on schema %I to livewell_reader; grant execute on function %s to livewell_reader',
                split_part(p_run, '.', 1), v_function.oid::regprocedure
            );
    end if;
end $$;
