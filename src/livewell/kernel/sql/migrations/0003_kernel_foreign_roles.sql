-- The two roles that touch what is not Livewell's: livewell_reader reads users' relations and calls users' functions,
-- livewell_writer writes users' tables, and reads what the reader may. They have nothing of Livewell's; the owner may make
-- functions that run as them, and does not have their rights itself where the server can tell the two apart. Roles belong
-- to the whole server, so another database may be creating them at this moment.
set local role none;

do $$
declare
    v_may_create boolean := (select rolsuper or rolcreaterole from pg_catalog.pg_roles where rolname = current_user);
    v_to_owner text := case when current_setting('server_version_num')::integer >= 160000 then ' with inherit false' else '' end;
    v_statement text;
    v_missing text;
begin
    for v_attempt in 1..2 loop
        v_missing := null;
        for v_statement in
            select needed.statement
            from (
                values
                (1, 'create role livewell_reader nologin', 'livewell_reader', null),
                (2, 'create role livewell_writer nologin', 'livewell_writer', null),
                (3, 'grant livewell_reader to livewell_writer', 'livewell_reader', 'livewell_writer'),
                (4, 'grant livewell_reader to livewell_owner' || v_to_owner, 'livewell_reader', 'livewell_owner'),
                (5, 'grant livewell_writer to livewell_owner' || v_to_owner, 'livewell_writer', 'livewell_owner')
            ) as needed (place, statement, role_name, member_name)
            where not exists (
                select from pg_catalog.pg_roles as r
                where r.rolname = needed.role_name and (
                    needed.member_name is null or exists (
                        select from pg_catalog.pg_auth_members as m join pg_catalog.pg_roles as g on g.oid = m.member
                        where m.roleid = r.oid and g.rolname = needed.member_name
                    )
                )
            )
            order by needed.place
        loop
            v_missing := concat_ws('; ', v_missing, v_statement);
            continue when not v_may_create or v_attempt = 2;
            begin
                execute v_statement;
            exception when duplicate_object or unique_violation or insufficient_privilege then
                null;
            end;
        end loop;
    end loop;
    if v_missing is not null then
        raise exception using
            errcode = 'LWK02',
            message = format('role %I may not make the roles that touch what is not Livewell''s', current_user),
            hint = 'have a superuser run: ' || v_missing;
    end if;
end
$$;

-- What users let livewell_owner do with what is theirs, they meant for these: handed on where whoever migrates may. What is
-- left is named, with its statement, by `livewell types check`.
do $$
declare
    v_statement text;
begin
    for v_statement in
        select format('grant %s on %s to %I', lower(a.privilege_type) || o.columns, o.target,
            case when a.privilege_type in ('INSERT', 'UPDATE') then 'livewell_writer' else 'livewell_reader' end)
        from (
            select n.nspacl as acl, '' as columns, format('schema %I', n.nspname) as target
            from pg_catalog.pg_namespace as n where n.nspname <> 'livewell'
            union all
            select c.relacl, '', c.oid::regclass::text
            from pg_catalog.pg_class as c
            where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace <> 'livewell'::regnamespace
            union all
            select f.attacl, format(' (%I)', f.attname), c.oid::regclass::text
            from pg_catalog.pg_attribute as f join pg_catalog.pg_class as c on c.oid = f.attrelid
            where f.attacl is not null and not f.attisdropped and c.relnamespace <> 'livewell'::regnamespace
            union all
            select p.proacl, '', format('function %s', p.oid::regprocedure)
            from pg_catalog.pg_proc as p where p.prokind = 'f' and p.pronamespace <> 'livewell'::regnamespace
        ) as o
        cross join lateral pg_catalog.aclexplode(o.acl) as a
        where a.grantee = 'livewell_owner'::regrole and a.privilege_type in ('USAGE', 'SELECT', 'INSERT', 'UPDATE', 'EXECUTE')
    loop
        begin
            execute v_statement;
        exception when insufficient_privilege then
            null;
        end;
    end loop;
end
$$;

set local role livewell_owner;
