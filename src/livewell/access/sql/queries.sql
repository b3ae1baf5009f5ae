-- name: list_issuers
-- Whose tokens count.
select name, issuer, audience, algorithm, secret, jwks, tenant_claim, role, scopes_claim, scopes::text as scopes, leeway, enabled
from livewell.issuers
order by name

-- name: apply_issuers
-- Makes issuers as declared, or says what that would change.
select thing, name, change, field, old::text, new::text from livewell.apply_issuers($1::text::jsonb, $2, $3)

-- name: add_access_key
-- Adds an access key by its hash.
select livewell.add_access_key($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: revoke_access_key
-- Revokes an access key.
select livewell.revoke_access_key($1, $2, $3)

-- name: list_access_keys
-- Access keys, the newest first.
select id, name, scopes, user_id, tenant, expires_at, revoked_at, last_used, created_at, created_by
from livewell.access_keys
order by created_at desc, id

-- name: admit_access_key
-- Whom an access key lets in, by its hash.
select outcome, id, scopes, user_id, tenant, expires_at from livewell.admit_access_key($1)

-- name: rights_changed
-- Says that what viewers may see changed.
select livewell.rights_changed($1, $2)

-- name: create_subject
-- Makes a subject of somebody's.
select livewell.create_subject($1, $2, $3, $4)

-- name: share
-- Shares a subject with a user.
select livewell.share($1, $2, $3)

-- name: unshare
-- Takes back what was shared with a user.
select livewell.unshare($1, $2)

-- name: remove_subject
-- Takes a subject away.
select livewell.remove_subject($1)

-- name: list_subjects
-- Subjects of an owner, or all, the newest first.
select id, kind, owner, tenant, created_at, shares from livewell.subjects
where $1::text is null or owner = $1
order by created_at desc, id
limit $2

-- name: list_shares
-- With whom a subject is shared.
select subject, user_id, rights, shared_by, since from livewell.shares where subject = $1 order by user_id

-- name: recheck_interval
-- How often it is asked anew what viewers may see.
select livewell.setting_interval('live.recheck')

-- name: type_reading
-- How a type is read for viewers.
select rule, claims, revision, keys_at_once, rows_per_key from livewell.type_reading($1)

-- name: stored_keys
-- Which keys of a type have something stored.
select livewell.stored_keys($1, $2)

-- name: become
-- What the rest of the transaction is: a role and claims, and nothing else; both as the digits of their bytes.
select
    pg_catalog.set_config('role', pg_catalog.convert_from(pg_catalog.decode('{role}', 'hex'), 'UTF8'), true),
    pg_catalog.set_config('request.jwt.claims', pg_catalog.convert_from(pg_catalog.decode('{claims}', 'hex'), 'UTF8'), true)

-- name: read_values
-- What is stored of keys, as far as the class may see it.
select key, value, visible from livewell.read_values($1, $2)

-- name: may_watch
-- Which keys the class may look at.
select livewell.may_watch($1, $2)

-- name: reading_statement
-- The statement that reads a table with row-level security as the viewer.
select livewell.reading_statement($1)

-- name: look_at_reader
-- What a login that reads for viewers has beyond what it should: nothing.
select
    session_user::text as login,
    r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as mighty,
    exists (
        select from pg_catalog.pg_roles as m
        where m.oid <> r.oid and pg_catalog.pg_has_role(r.oid, m.oid, 'usage')
    ) as inherits,
    exists (
        select from unnest(array['livewell_owner', 'livewell_service', 'livewell_reader', 'livewell_writer']) as m (role)
        where pg_catalog.pg_has_role(r.oid, m.role, 'member')
    ) as more,
    pg_catalog.pg_has_role(r.oid, 'livewell_user', 'member') and pg_catalog.pg_has_role(r.oid, 'livewell_anon', 'member') as able
from pg_catalog.pg_roles as r
where r.rolname = session_user
