-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- The canonical form of each entry after its id: what is hashed, exported and verified is '{"id" : ' || id || ', ' || body.
-- Nothing in it depends on a setting of the session. The login stands last, and only where it was recorded: older entries keep
-- the form they were sealed in.
-- for: internal
create or replace view livewell_private.audit_line as
select
    e.id,
    case e.login when '' then line.body else left(line.body, -1) || ', "login" : ' || to_json(e.login) || '}' end as body
from livewell_private.audit_entry e
cross join lateral (
    select substr(json_build_object(
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
) as line;

-- columns:
--   id bigint
--   body text

