-- The schema, its four roles, and the migrator's own memory. Roles belong to the whole server, so another database
-- may be creating them at this moment.
do $$
declare
    v_role text;
    v_may_create boolean := (select rolsuper or rolcreaterole from pg_catalog.pg_roles where rolname = current_user);
    v_set text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
    foreach v_role in array array['livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon'] loop
        continue when exists (select from pg_catalog.pg_roles where rolname = v_role);
        exit when not v_may_create;
        begin
            execute format('create role %I nologin', v_role);
        exception when duplicate_object or unique_violation then
            null;
        end;
    end loop;

    if not v_may_create and not (
        (select count(*) from pg_catalog.pg_roles
         where rolname in ('livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon')) = 4
        and exists (
            select from pg_catalog.pg_roles r
            where r.rolname = 'livewell_owner' and pg_catalog.pg_has_role(current_user, r.oid, v_set))
        and pg_catalog.has_database_privilege(current_user, current_database(), 'create')
    ) then
        raise exception using
            errcode = 'LWK02',
            message = format('role %I may not make the schema and roles that Livewell needs', current_user),
            hint = 'have a superuser run: ' || concat(
                (select string_agg(format('create role %I nologin; ', needed.name), '')
                 from unnest(array['livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon']) needed (name)
                 where not exists (select from pg_catalog.pg_roles where rolname = needed.name)),
                format('grant livewell_owner to %I; ', current_user),
                format('grant create on database %I to %I', current_database(), current_user));
    end if;

    if not pg_catalog.pg_has_role(current_user, 'livewell_owner', v_set) then
        begin
            execute format('grant livewell_owner to %I', current_user);
        exception when unique_violation then
            null;
        end;
    end if;
end
$$;

create schema livewell authorization livewell_owner;
revoke all on schema livewell from public;
grant usage on schema livewell to livewell_service, livewell_user, livewell_anon;

set local role livewell_owner;

-- Functions made by later migrations, too, are nobody's until granted.
alter default privileges revoke execute on functions from public;

create table livewell_private.migration (
    number integer constraint migration_is_applied_once primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp()
);

create table livewell_private.schema_object (
    kind text not null,
    name text not null,
    file_checksum text,
    fingerprint text not null,
    applied_at timestamptz not null default clock_timestamp(),
    constraint schema_object_is_recorded_once primary key (kind, name)
);
