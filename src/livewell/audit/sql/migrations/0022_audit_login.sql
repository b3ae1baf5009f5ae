-- The login that wrote an entry, beside the actor it named. Entries from before have none, and keep the lines they were sealed
-- with; who writes names it, so that entries and their lines change in one step.
alter table livewell_private.audit_entry add column login text not null default '';
comment on column livewell_private.audit_entry.login is 'The login that wrote it (session_user); empty before it was recorded.';
