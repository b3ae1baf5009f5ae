-- The roles, the two schemas, the migrator's own memory, and what every room uses.
--
-- livewell_owner owns everything. Services, users and the anonymous may call and read what the schema `livewell` offers them.
-- livewell_reader reads users' relations and calls users' functions, livewell_writer writes users' tables and reads what the reader
-- may: they have nothing of Livewell's. The owner may make functions that run as them, and does not have their rights itself where
-- the server can tell the two apart. Roles belong to the whole server, so another database may be creating them at this moment.
do $$
declare
    v_may_create constant boolean := (
        select r.rolsuper or r.rolcreaterole from pg_catalog.pg_roles as r where r.rolname = current_user
    );
    v_is_16 constant boolean := current_setting('server_version_num')::integer >= 160000;
    v_to_owner constant text := case when v_is_16 then ' with inherit false' else '' end;
    v_act_as constant text := case when v_is_16 then 'SET' else 'MEMBER' end;
    v_statement text;
    v_missing text;
begin
    for v_attempt in 1..2 loop
        v_missing := null;
        for v_statement in
            select n.statement
            from (
                select r.place, format('create role %I nologin', r.name) as statement
                from unnest(array[
                    'livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon', 'livewell_reader', 'livewell_writer'
                ]) with ordinality as r (name, place)
                where not exists (select from pg_catalog.pg_roles as p where p.rolname = r.name)
                union all
                select 10 + g.place, format('grant %I to %I', g.name, g.member) || g.options
                from (
                    values
                    (1, 'livewell_reader', 'livewell_writer', ''),
                    (2, 'livewell_reader', 'livewell_owner', v_to_owner),
                    (3, 'livewell_writer', 'livewell_owner', v_to_owner)
                ) as g (place, name, member, options)
                where not exists (
                    select from pg_catalog.pg_auth_members as m
                    where m.roleid = to_regrole(g.name) and m.member = to_regrole(g.member)
                )
                union all
                select 20, format('grant livewell_owner to %I', current_user)
                where not coalesce((
                    select pg_catalog.pg_has_role(current_user, r.oid, v_act_as)
                    from pg_catalog.pg_roles as r where r.rolname = 'livewell_owner'
                ), false)
                union all
                select 21, format('grant create on database %I to %I', current_database(), current_user)
                where not pg_catalog.has_database_privilege(current_user, current_database(), 'create')
            ) as n
            order by n.place
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
            message = format('role %I may not make the schemas and roles that Livewell needs', current_user),
            hint = 'have a superuser run: ' || v_missing;
    end if;
end
$$;

-- What others may call and read. Everything else is in the private schema, which nobody but the owner may even name.
create schema livewell authorization livewell_owner;
create schema livewell_private authorization livewell_owner;
revoke all on schema livewell, livewell_private from public;
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

-- Warnings: something odd that was survived, counted by hour, code and subject, with what was said last.
create table livewell_private.warning (
    hour timestamptz not null,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    constraint warning_pkey primary key (hour, code, subject),
    constraint warning_code_is_a_room_and_a_word check (code ~ '^[a-z]+\.[a-z_]+$')
) with (fillfactor = 50);

-- Warnings as they come, one row each, so that nobody waits for another's transaction to warn of the same; a task rolls them up
-- into the hours of `warning`.
create table livewell_private.fresh_warning (
    id bigint generated always as identity,
    code text not null,
    subject text not null,
    warnings bigint not null,
    message text not null,
    warned_at timestamptz not null,
    constraint fresh_warning_pkey primary key (id),
    constraint fresh_warning_code_is_a_room_and_a_word check (code ~ '^[a-z]+\.[a-z_]+$')
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Whether the server's notification queue is so full that nothing of ours is notified: one row, read by all who would.
create table livewell_private.notification_state (
    alone boolean not null default true,
    quiet boolean not null default false,
    changed_at timestamptz not null default clock_timestamp(),
    constraint notification_state_pkey primary key (alone),
    constraint notification_state_is_one_row check (alone)
);
insert into livewell_private.notification_state default values;

-- What only one may do at a time, a row each. Advisory locks would do, if any login could not take any of their keys: rows of a
-- private table are locked only through functions of ours.
create table livewell_private.named_lock (
    name text not null,
    constraint named_lock_pkey primary key (name)
);
insert into livewell_private.named_lock (name)
values ('audit_seal'), ('budgets'), ('calendars'), ('exchange_rules'), ('registry'), ('tasks');

-- What people declare, and what a declaration changes of it; the same for every room.

-- What plans call a thing, its table, the code of its refusals, the columns that nobody declares, and a row as the table's
-- defaults make it.
create type livewell_private.declared_thing as (thing text, table_name regclass, errcode text, kept text[], defaults jsonb);

-- One thing added, changed or the same; for which fields, what it was and what it would be. What is new differs from the defaults.
create type livewell_private.declared_change as (thing text, name text, change text, fields text[], old jsonb, new jsonb);
