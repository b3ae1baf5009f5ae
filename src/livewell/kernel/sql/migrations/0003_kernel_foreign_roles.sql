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

set local role livewell_owner;
