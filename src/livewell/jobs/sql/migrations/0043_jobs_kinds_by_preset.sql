-- squawk-ignore-file ban-drop-table
-- The kinds of document work are a preset and no longer everybody's: those that nobody changed or used go. What was tuned, was
-- ever queued (it has a lane) or is handled by a worker stays.
create table livewell_private.shipped_kind (like livewell_private.job_kind including defaults);
insert into livewell_private.shipped_kind (kind, queue_group, description)
values
('fast_queue_security', 'documents', 'Security check of an uploaded document'),
('fast_queue_ocr', 'documents', 'Text recognition of a document'),
('fast_queue_spatial', 'documents', 'Layout of a recognised document'),
('ai_queue_pass1', 'ai', 'First AI pass over a document'),
('ai_queue_pass2', 'ai', 'Second AI pass over a document'),
('ai_queue_pass3', 'ai', 'Third AI pass over a document');

delete from livewell_private.job_kind as k
using livewell_private.shipped_kind as s
where s.kind = k.kind
    and to_jsonb(k) - '{created_at,updated_at}'::text[] = to_jsonb(s) - '{created_at,updated_at}'::text[]
    and not exists (select from livewell_private.job_lane as l where l.kind = k.kind)
    and not exists (select from livewell_private.worker as w where k.kind = any (w.kinds));

drop table livewell_private.shipped_kind;
