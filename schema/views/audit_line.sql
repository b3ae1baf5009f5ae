-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- The canonical form of each entry after its id: what is hashed, exported and verified is '{"id" : ' || id || ', ' || body.
-- Nothing in it depends on a setting of the session.
-- for: internal
create or replace view livewell.audit_line as
select
    e.id,
    substr(json_build_object(
        'at', to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'xid', e.xid::text,
        'event', e.event,
        'table_name', e.table_name,
        'record_id', e.record_id,
        'operation', e.operation,
        'old', e.old,
        'new', e.new,
        'reason', e.reason,
        'actor', e.actor,
        'subject', e.subject,
        'job_id', e.job_id,
        'detail', e.detail
    )::text, 2) as body
from livewell.audit_entry e;

-- columns:
--   id bigint
--   body text

