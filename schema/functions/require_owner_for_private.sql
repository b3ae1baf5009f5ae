-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_owner_for_private(p_providers livewell.provider[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    -- The role that calls, also where it was changed after the login; within this function it is the owner's.
    v_caller constant text := coalesce(nullif(current_setting('role'), 'none'), session_user::text);
    v_name text;
begin
    if pg_catalog.pg_has_role(v_caller, 'livewell_owner', 'member') then
        return;
    end if;
    select n.name into v_name
    from unnest(p_providers) as n
    left join livewell.provider as o on o.name = n.name
    where n.allow_private and (
        (o.allow_private, o.base_url, o.hosts) is distinct from (n.allow_private, n.base_url, n.hosts)
    )
    limit 1;
    if found then
        perform livewell.refuse_budget(
            'provider', v_name, 'allow_private is for the owner of the schema to say',
            'use the login that migrates: one that was granted livewell_owner'
        );
    end if;
end $function$;
