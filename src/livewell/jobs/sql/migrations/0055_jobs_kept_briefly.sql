-- squawk-ignore-file require-concurrent-partition-detach
-- Completed jobs of some kinds are many, and what they did is told elsewhere: they are kept briefly, apart from the others, in
-- partitions of half an hour. Null: kept with the others.
alter table livewell_private.job_kind add column kept_briefly boolean not null default false;
alter table livewell_private.job add column kept_briefly boolean;

alter table livewell_private.job detach partition livewell_private.job_done;
create table livewell_private.job_ended partition of livewell_private.job
for values in ('completed', 'cancelled') partition by list (kept_briefly);
alter table livewell_private.job_ended attach partition livewell_private.job_done for values in (null);
create table livewell_private.job_brief partition of livewell_private.job_ended for values in (true) partition by range (finished_at);
create table livewell_private.job_brief_default partition of livewell_private.job_brief default;
create index job_brief_id on livewell_private.job_brief (id);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
values
    ('jobs.retention.refreshes', 'duration', '01:00:00', '01:00:00', '00:15:00', '7 days', null,
     'How long completed refreshes are kept before their half hour is dropped; each item keeps its last few outcomes.')
on conflict (name) do nothing;
