-- The kinds of document work and of maintenance that ship with Livewell; tuned values are never overwritten.
insert into livewell_private.job_kind (kind, queue_group, description)
values
('fast_queue_security', 'documents', 'Security check of an uploaded document'),
('fast_queue_ocr', 'documents', 'Text recognition of a document'),
('fast_queue_spatial', 'documents', 'Layout of a recognised document'),
('ai_queue_pass1', 'ai', 'First AI pass over a document'),
('ai_queue_pass2', 'ai', 'Second AI pass over a document'),
('ai_queue_pass3', 'ai', 'Third AI pass over a document'),
('audit_cleanup', 'maintenance', 'Care of old audit records'),
('notification_delivery', 'maintenance', 'Delivery of a notification'),
('report_generation', 'maintenance', 'Making of a report'),
('backup_operation', 'maintenance', 'A backup'),
('system_maintenance', 'maintenance', 'Care of the system itself'),
('consent_verification', 'maintenance', 'Check that consent is still given')
on conflict (kind) do nothing;
