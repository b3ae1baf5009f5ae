-- name: limit_step
-- The limits of one step, for this transaction only: a pooler's next client must not inherit them.
select
    set_config('lock_timeout', $1, true),
    set_config('statement_timeout', $2, true),
    set_config('idle_in_transaction_session_timeout', '0', true),
    set_config('search_path', 'pg_catalog, pg_temp', true)

-- name: take_turn
-- One migrator at a time on this database: who has the row of the first migration; given back when the transaction ends,
-- however it ends.
select true from livewell_private.migration where number = 1 for update skip locked

-- name: has_history
-- Whether a migrator was here before; before the first there is no table to ask.
select pg_catalog.to_regclass('livewell_private.migration') is not null

-- name: has_former_history
-- Whether a migrator from before the first version was here: its memory lay beside what others may call.
select pg_catalog.to_regclass('livewell.migration') is not null

-- name: is_replica
-- Whether nothing can be locked or written here.
select pg_catalog.pg_is_in_recovery()

-- name: act_as_owner
-- What this transaction makes belongs to the owner role, whoever connected.
select pg_catalog.set_config('role', 'livewell_owner', true)

-- name: begin_acting_as
-- What follows is made by a role that touches what is not Livewell's: it may use the private schema only for as long.
select format('grant usage, create on schema livewell_private to %I; set local role %I', $1::text, $1::text)

-- name: end_acting_as
-- The role has nothing of Livewell's again.
select format('set local role livewell_owner; revoke usage, create on schema livewell_private from %I', $1::text)

-- name: list_migrations
-- The history, oldest first.
select number, name, checksum from livewell_private.migration order by number

-- name: list_recorded_objects
-- Every object as the last step that touched it left it.
select kind, name, file_checksum, fingerprint from livewell_private.schema_object order by kind, name

-- name: record_migration
-- A migration is history once this row commits with it.
insert into livewell_private.migration (number, name, checksum) values ($1, $2, $3)

-- name: record_objects
-- What a step changed, as it now is; the file an object came from is remembered until another is named.
insert into livewell_private.schema_object as known (kind, name, fingerprint)
select kind, name, fingerprint from unnest($1::text[], $2::text[], $3::text[]) as changed (kind, name, fingerprint)
on conflict (kind, name) do update
set fingerprint = excluded.fingerprint, applied_at = clock_timestamp()

-- name: record_files
-- From which version of its file an object was made.
update livewell_private.schema_object known
set file_checksum = file.checksum
from unnest($1::text[], $2::text[], $3::text[]) as file (kind, name, checksum)
where known.kind = file.kind and known.name = file.name

-- name: forget_objects
-- What a step removed is no longer expected.
delete from livewell_private.schema_object known
using unnest($1::text[], $2::text[]) as gone (kind, name)
where known.kind = gone.kind and known.name = gone.name

-- name: find_object
-- Everything in the schemas that bears the name of an object file: overloads of a function, a trigger on several tables.
select p.oid, format('drop %s %s', case p.prokind when 'p' then 'procedure' else 'function' end, p.oid::regprocedure) as drop_it,
    p.proowner::regrole::text as owner
from pg_catalog.pg_proc p
where $1 = 'function' and p.proname = $2 and p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])
union all
select c.oid, format('drop view %s.%I', c.relnamespace::regnamespace, c.relname), c.relowner::regrole::text
from pg_catalog.pg_class c
where $1 = 'view' and c.relname = $2 and c.relkind = 'v' and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])
union all
select t.oid, format('drop trigger %I on %s.%I', t.tgname, c.relnamespace::regnamespace, c.relname), c.relowner::regrole::text
from pg_catalog.pg_trigger t
join pg_catalog.pg_class c on c.oid = t.tgrelid
where $1 = 'trigger' and t.tgname = $2 and t.tgparentid = 0 and not t.tgisinternal
    and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])

-- name: list_invalid_indexes
-- What an interrupted concurrent build left behind: it costs every write and serves no read.
select format('drop index concurrently %s.%I', c.relnamespace::regnamespace, c.relname) as drop_it
from pg_catalog.pg_index i
join pg_catalog.pg_class c on c.oid = i.indexrelid
where not i.indisvalid and c.relname = any ($1::text[]) and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])

-- name: list_dependents
-- Views and triggers of the schemas that stand on the given functions and views, the farthest first.
with recursive dependent as (
    select d.classid, d.objid, 1 as depth
    from pg_catalog.pg_depend d
    where d.refobjid = any ($1::oid[]) and d.refclassid in ('pg_proc'::regclass, 'pg_class'::regclass)
    union
    select d.classid, d.objid, above.depth + 1
    from dependent above
    join pg_catalog.pg_rewrite rule on above.classid = 'pg_rewrite'::regclass and rule.oid = above.objid
    join pg_catalog.pg_depend d on d.refobjid = rule.ev_class and d.refclassid = 'pg_class'::regclass
    where above.depth < 20
)
select kind, name
from (
    select 'view' as kind, c.oid, c.relname as name, d.depth
    from dependent d
    join pg_catalog.pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    join pg_catalog.pg_class c on c.oid = r.ev_class and c.relkind = 'v' and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])
    union all
    select 'trigger', t.oid, t.tgname, d.depth
    from dependent d
    join pg_catalog.pg_trigger t on d.classid = 'pg_trigger'::regclass and t.oid = d.objid
    where not t.tgisinternal and t.tgparentid = 0
) object
where oid <> all ($1::oid[])
group by kind, name
order by max(depth) desc, kind, name

-- name: list_grants_to_make
-- Who may use an object: the owner and the named roles, and nobody else who was granted it by hand.
select made.statement
from (
    select p.oid::regprocedure::text as target, 'function' as word, 'execute' as privilege,
        p.proowner as owner, coalesce(p.proacl, acldefault('f', p.proowner)) as acl
    from pg_catalog.pg_proc p
    where $1 = 'function' and p.proname = $2 and p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[])
    union all
    select format('%s.%I', c.relnamespace::regnamespace, c.relname), 'table', 'select', c.relowner, coalesce(c.relacl, acldefault('r', c.relowner))
    from pg_catalog.pg_class c
    where $1 = 'view' and c.relname = $2 and c.relkind = 'v' and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])
) object
cross join lateral (
    select distinct
        format('revoke all on %s %s from %s', word, target, case g.grantee when 0 then 'public' else g.grantee::regrole::text end),
        1
    from aclexplode(object.acl) g
    where g.grantee <> object.owner
    union all
    select format('grant %s on %s %s to %I', privilege, word, target, role_name), 2
    from unnest($3::text[]) as role_name
) as made (statement, place)
order by object.target, made.place, made.statement

-- name: list_live_objects
-- The schemas as the catalog has them, one row per thing that could drift. Written so that 15 and 18 answer alike: no NOT NULL
-- constraints (18 names them), no rights of owners (17 added one). Dated partitions come and go and are left out.
with ours as (
    select n.oid, n.nspname, n.nspowner, n.nspacl from pg_catalog.pg_namespace n where n.nspname in ('livewell', 'livewell_private')
),
relation as (
    select c.oid, n.nspname, c.relname, c.relkind, c.relowner, c.relacl, c.reloptions, c.relispartition, c.relpartbound,
        c.relrowsecurity, c.relforcerowsecurity, c.relpersistence
    from pg_catalog.pg_class c join ours n on n.oid = c.relnamespace
    where c.relname !~ '_\d{8}(\d{4})?$'
),
routine as (
    select p.oid, p.proname, p.proowner, p.proacl, p.prokind
    from pg_catalog.pg_proc p join ours n on n.oid = p.pronamespace
    where p.prokind in ('f', 'p')
),
acl as (
    select 'schema ' || n.nspname as name, 'schema ' || n.nspname as line, n.nspowner as owner,
        coalesce(n.nspacl, acldefault('n', n.nspowner)) as acl
    from ours n
    union all
    select
        format('%s %s', case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, relname),
        format('%s %s.%I', case relkind when 'S' then 'sequence' else 'table' end, nspname, relname), relowner, coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
    from relation
    where relkind in ('r', 'p', 'v', 'm', 'S')
    union all
    select 'function ' || proname, 'function ' || oid::regprocedure, proowner, coalesce(proacl, acldefault('f', proowner))
    from routine
)
select 'schema' as kind, n.nspname::text as name, null as part_of, 0 as place, '' as definition, n.nspowner::regrole::text as owner
from ours n
union all
select 'server', 'version', null, 0, (current_setting('server_version_num')::integer / 10000)::text, ''
union all
select
    'table', r.relname, r.relname, 0,
    concat_ws(' ',
        case r.relpersistence when 'u' then 'unlogged' end,
        (select format('partition of %s %s', i.inhparent::regclass, pg_get_expr(r.relpartbound, r.oid))
         from pg_catalog.pg_inherits i where i.inhrelid = r.oid and r.relispartition),
        case r.relkind when 'p' then 'partition by ' || pg_get_partkeydef(r.oid) end,
        'with (' || (select string_agg(o, ', ' order by o) from unnest(r.reloptions) o) || ')'),
    r.relowner::regrole::text
from relation r
where r.relkind in ('r', 'p')
union all
select
    'row security', r.relname, r.relname, 0,
    concat_ws(' and ', case when r.relrowsecurity then 'enabled' end, case when r.relforcerowsecurity then 'forced' end), ''
from relation r
where r.relkind in ('r', 'p') and (r.relrowsecurity or r.relforcerowsecurity)
union all
select
    'column', format('%s.%s', r.relname, a.attname), r.relname, a.attnum,
    concat_ws(' ',
        format_type(a.atttypid, a.atttypmod),
        'collate ' || (select c.collname from pg_catalog.pg_collation c join pg_catalog.pg_type t on t.oid = a.atttypid
                       where c.oid = a.attcollation and c.oid <> t.typcollation),
        case when a.attnotnull then 'not null' end,
        case a.attidentity when 'a' then 'generated always as identity' when 'd' then 'generated by default as identity' end,
        case
            when a.attgenerated = 's' then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
            when a.attgenerated = 'v' then format('generated always as (%s) virtual', pg_get_expr(d.adbin, d.adrelid))
            else 'default ' || pg_get_expr(d.adbin, d.adrelid)
        end),
    ''
from relation r
join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where r.relkind in ('r', 'p')
union all
select 'constraint', format('%s.%s', r.relname, c.conname), r.relname, 0, pg_get_constraintdef(c.oid), ''
from relation r
join pg_catalog.pg_constraint c on c.conrelid = r.oid
where c.contype in ('c', 'f', 'p', 'u', 'x') and c.conparentid = 0
union all
select
    'index', r.relname, t.relname, 0,
    pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' -- invalid' end, ''
from relation r
join pg_catalog.pg_index i on i.indexrelid = r.oid
join relation t on t.oid = i.indrelid
where not r.relispartition
    and not exists (select from pg_catalog.pg_constraint c where c.conindid = r.oid and c.contype in ('p', 'u', 'x'))
union all
select
    'policy', format('%s.%s', r.relname, p.polname), r.relname, 0,
    concat_ws(' ',
        'as', case when p.polpermissive then 'permissive' else 'restrictive' end,
        'for', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        'to', (select string_agg(case g when 0 then 'public' else g::regrole::text end, ', ' order by g::regrole::text) from unnest(p.polroles) g),
        'using (' || pg_get_expr(p.polqual, p.polrelid) || ')',
        'with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')'),
    ''
from relation r
join pg_catalog.pg_policy p on p.polrelid = r.oid
union all
select 'statistics', s.stxname, r.relname, 0, pg_get_statisticsobjdef(s.oid), s.stxowner::regrole::text
from relation r
join pg_catalog.pg_statistic_ext s on s.stxrelid = r.oid
union all
select
    'sequence', r.relname, r.relname, 0,
    format('as %s start %s increment %s minvalue %s maxvalue %s cache %s%s',
        s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when s.seqcycle then ' cycle' else '' end),
    r.relowner::regrole::text
from relation r
join pg_catalog.pg_sequence s on s.seqrelid = r.oid
where not exists (select from pg_catalog.pg_depend d
    where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.deptype = 'i')
union all
select
    'type', t.typname, t.typname, 0,
    case t.typtype
        when 'e' then format('as enum (%s)', (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
            from pg_catalog.pg_enum e where e.enumtypid = t.oid))
        when 'c' then format('as (%s)', (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)
            from pg_catalog.pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
    end,
    t.typowner::regrole::text
from pg_catalog.pg_type t join ours n on n.oid = t.typnamespace
where (t.typtype = 'e' or exists (select from relation r where r.oid = t.typrelid and r.relkind = 'c'))
union all
select
    'domain', t.typname, t.typname, 0,
    concat_ws(' ', 'as', format_type(t.typbasetype, t.typtypmod), case when t.typnotnull then 'not null' end,
        'default ' || t.typdefault,
        (select string_agg(format('constraint %I %s', c.conname, pg_get_constraintdef(c.oid)), ' ' order by c.conname)
         from pg_catalog.pg_constraint c where c.contypid = t.oid and c.contype = 'c')),
    t.typowner::regrole::text
from pg_catalog.pg_type t join ours n on n.oid = t.typnamespace
where t.typtype = 'd'
union all
select
    'function', r.proname, r.proname, 0,
    string_agg(pg_get_functiondef(r.oid), E'\n' order by r.oid::regprocedure::text),
    string_agg(distinct r.proowner::regrole::text, ', ')
from routine r
group by r.proname
union all
select
    'view', r.relname, r.relname, 0,
    concat_ws(' ', 'with (' || (select string_agg(o, ', ' order by o) from unnest(r.reloptions) o) || ')', pg_get_viewdef(r.oid)),
    r.relowner::regrole::text
from relation r
where r.relkind = 'v'
union all
select
    'trigger', t.tgname, min(r.relname), 0,
    string_agg(concat(
        pg_get_triggerdef(t.oid),
        format(case t.tgenabled
            when 'D' then E'\nALTER TABLE %I.%I DISABLE TRIGGER %I'
            when 'A' then E'\nALTER TABLE %I.%I ENABLE ALWAYS TRIGGER %I'
            when 'R' then E'\nALTER TABLE %I.%I ENABLE REPLICA TRIGGER %I'
        end, r.nspname, r.relname, t.tgname)), E'\n' order by r.relname),
    ''
from relation r
join pg_catalog.pg_trigger t on t.tgrelid = r.oid
where not t.tgisinternal and t.tgparentid = 0
group by t.tgname
union all
select
    'grant', acl.name, null, 0,
    string_agg(format('%s on %s to %s%s', lower(g.privilege_type), acl.line, case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
        case when g.is_grantable then ' with grant option' else '' end), E'\n'
        order by acl.line, g.grantee::regrole::text, g.privilege_type),
    ''
from acl
cross join lateral aclexplode(acl.acl) g
where g.grantee <> acl.owner
group by acl.name
order by kind, part_of, place, name

-- name: list_view_columns
-- What the views show; their bodies are worded differently by 15 and by 16, so the snapshot takes those from the files.
select c.relname as view, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and c.relnamespace = any ('{livewell,livewell_private}'::regnamespace[])
order by c.relname, a.attnum

-- name: list_warnings
-- What was warned about since a time, the newest first; of one room or one code, if asked. The hours before are not read.
select hour, code, subject, warnings, message, first_at, last_at from livewell.warnings
where hour >= date_trunc('hour', coalesce($1, clock_timestamp() - interval '1 day'), 'UTC')
    and last_at >= coalesce($1, clock_timestamp() - interval '1 day') and ($2::text is null or $2 in (code, split_part(code, '.', 1)))
order by last_at desc, code, subject limit $3

-- name: list_logins_to_make
-- What an embedded server lacks for daily work: a login that is only a service, and one that reads for viewers and inherits nothing,
-- in a database where no login but the owners' makes temporary objects.
select statement from (
    select 1 as step, pg_catalog.format('create role %I nologin', n.name) as statement
    from unnest(array['livewell_service', 'livewell_user', 'livewell_anon']) as n (name)
    where not exists (select from pg_catalog.pg_roles where rolname = n.name)
    union all
    select 2, pg_catalog.format('create role %I login', $1::text)
    where not exists (select from pg_catalog.pg_roles where rolname = $1)
    union all
    select 3, pg_catalog.format('grant livewell_service to %I', $1)
    where not exists (
        select from pg_catalog.pg_auth_members as m
        where m.roleid = pg_catalog.to_regrole('livewell_service') and m.member = pg_catalog.to_regrole(pg_catalog.quote_ident($1)))
    union all
    select 5, pg_catalog.format('create role %I login noinherit', $3::text)
    where not exists (select from pg_catalog.pg_roles where rolname = $3)
    union all
    select 6, pg_catalog.format('grant %I to %I', n.name, $3)
    from unnest(array['livewell_user', 'livewell_anon']) as n (name)
    where not exists (
        select from pg_catalog.pg_auth_members as m
        where m.roleid = pg_catalog.to_regrole(n.name) and m.member = pg_catalog.to_regrole(pg_catalog.quote_ident($3)))
    union all
    select 4, pg_catalog.format('revoke temporary on database %I from public', $2::text)
    where exists (
        select from pg_catalog.pg_database as d
        cross join lateral pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) as a
        where d.datname = $2 and a.grantee = 0 and a.privilege_type = 'TEMPORARY')
) as missing
order by step

-- name: list_logins
-- Who may log in and is a member of a role of Livewell's, directly or through others; made here if it bears the mark.
select r.rolname::text as name, array_agg(g.rolname::text order by g.rolname) as member_of,
    shobj_description(r.oid, 'pg_authid') is not distinct from 'made by livewell access login' as made_here,
    coalesce((
        select s.setconfig from pg_catalog.pg_db_role_setting s where s.setrole = r.oid and s.setdatabase = 0
    ), '{}') as settings,
    nullif(r.rolconnlimit, -1) as connections
from pg_catalog.pg_roles r
join pg_catalog.pg_roles g
    on g.rolname in ('livewell_owner', 'livewell_service', 'livewell_user', 'livewell_anon') and pg_has_role(r.oid, g.oid, 'member')
where r.rolcanlogin and not r.rolsuper
group by r.oid, r.rolname, r.rolconnlimit
order by r.rolname

-- name: look_at_login
-- Whether the asker may make a login of that name as a member of these roles and record it, and what there is of that name: one
-- that does not bear the mark, may do more than log in, or is a member of something else, is taken.
select current_user::text as asker,
    (a.rolsuper or (a.rolcreaterole and (
        current_setting('server_version_num')::integer < 160000
        or (select bool_and(pg_has_role(current_user, g.role, 'member with admin option')) from unnest($2::text[]) as g (role))
    ))) and has_function_privilege('livewell.audit_write(jsonb, timestamptz)', 'execute') as may_make,
    r.oid is not null as there,
    r.oid is not null and (
        shobj_description(r.oid, 'pg_authid') is distinct from 'made by livewell access login'
        or r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls or not r.rolcanlogin
        or exists (
            select from pg_catalog.pg_auth_members m
            where m.member = r.oid and m.roleid::regrole::text not in ('livewell_service', 'livewell_user', 'livewell_anon')
                and m.roleid::regrole::text <> all (array(select quote_ident(g.role) from unnest($2::text[]) as g (role)))
        )
    ) as taken
from pg_catalog.pg_roles a
left join pg_catalog.pg_roles r on r.rolname = $1
where a.rolname = current_user

-- name: list_login_statements
-- What makes a login as asked, in order: a member of these roles and of no other, with a verifier for its password, a limit of
-- connections, and its time limits.
select made.statement
from (
    select format('create role %I', $1::text), 1 where not exists (select from pg_catalog.pg_roles where rolname = $1)
    union all
    select format(
        'alter role %I login %s connection limit %s password %L', $1, case when $8 then 'inherit' else 'noinherit' end, $4::integer, $3::text
    ), 2
    union all
    select format('comment on role %I is %L', $1, 'made by livewell access login'), 3
    union all
    select format('alter role %I set %I = %L', $1, s.name, s.value), 4
    from (values
        ('idle_in_transaction_session_timeout', $5::text), ('statement_timeout', $6::text), ('lock_timeout', $7::text)
    ) as s (name, value)
    union all
    select format('revoke %I from %I', g.rolname, $1), 5
    from pg_catalog.pg_auth_members m
    join pg_catalog.pg_roles g on g.oid = m.roleid
    join pg_catalog.pg_roles r on r.oid = m.member
    where r.rolname = $1 and g.rolname <> all ($2::text[])
    union all
    select format('grant %I to %I', g.role, $1), 6 from unnest($2::text[]) as g (role)
) as made (statement, place)
order by made.place, made.statement
