-- name: write_entries
-- Append a batch; the ids come back in its order.
select livewell.audit_write($1::text::jsonb, coalesce($2::timestamptz, clock_timestamp()))

-- name: list_entries
-- Entries, newest first, by whatever is asked for.
select
    id, at, xid::text::bigint as xid, event, table_name, record_id, operation, old::text as old, new::text as new,
    reason, actor, subject, job_id, detail::text as detail, nullif(login, '') as login
from livewell.list_audit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: read_state
-- Where the chain ends and what is not in it yet.
select
    head_number, head_hash, sealed_at, sealed_entries, high_water, unsealed_entries, oldest_unsealed_at, missing_ids
from livewell.audit_state()

-- name: seal_entries
-- Chain what was committed since the last seal.
select outcome, number, entries, hash from livewell.seal_audit($1, coalesce($2::timestamptz, clock_timestamp()))

-- name: next_seals
-- The last seal of the next portion of about so many entries; null at the end of the chain.
select livewell.next_audit_seals($1, $2)

-- name: verify_seals
-- What is wrong with the seals after one up to another and with the entries they cover.
select problem, seal, entry_id, detail from livewell.verify_audit_seals($1, $2)

-- name: verify_entries
-- Entries in the sealed range, with ids after one up to another, that are in no seal.
select problem, seal, entry_id, detail from livewell.verify_audit_entries($1, $2)

-- name: verify_guards
-- The triggers that refuse changes and are not in force now.
select problem, seal, entry_id, detail from livewell.verify_audit_guards()

-- name: verify_head
-- Whether the chain still holds a head that was kept elsewhere.
select problem, seal, entry_id, detail from livewell.verify_audit_head($1, $2)

-- name: export_lines
-- The seals after one up to another with their entries, as lines that can be verified without the database.
select line from livewell.export_audit($1, $2) as line

-- name: read_head
-- The seal of a number, as a head; none when there is no such seal.
select number, hash from livewell.audit_head($1)
