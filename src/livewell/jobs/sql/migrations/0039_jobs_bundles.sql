-- Jobs of a kind may share a request, where a provider answers for several keys at once: how many may, and which do. Of a
-- bundle one job carries the request, and the others ride along.
alter table livewell_private.job_kind add column jobs_per_request integer not null default 1;
alter table livewell_private.job_kind
add constraint kind_request_serves_some_jobs check (jobs_per_request between 1 and 1000) not valid;
alter table livewell_private.job add column bundle bigint, add column rides boolean;
create sequence livewell_private.bundle_seq;
alter type livewell_private.spent_call add attribute rides boolean;
alter type livewell_private.open_lane add attribute per_request integer;
