-- Every declared thing says when it was changed last.
alter table livewell.presence_source add column updated_at timestamptz not null default clock_timestamp();
