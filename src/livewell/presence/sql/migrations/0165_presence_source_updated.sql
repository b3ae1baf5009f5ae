-- squawk-ignore-file adding-field-with-default
-- Every declared thing says when it was changed last; there are few of these.
alter table livewell_private.presence_source add column updated_at timestamptz not null default clock_timestamp();
