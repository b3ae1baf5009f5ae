-- The tasks that ship with the rooms below; tuned values are never overwritten. The function of a task is its room's.
insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('rescue', 'Take back jobs of silent workers, mend serial keys, forget workers long unseen', 'livewell.task_rescue',
 '1 second', null, '1 second', '4 seconds', '1 minute', '2 minutes', clock_timestamp()),
('job_partitions', 'Make the partitions of the days ahead', 'livewell.task_job_partitions',
 '1 hour', null, '1 minute', '5 minutes', '1 minute', '3 hours', clock_timestamp()),
('job_retention', 'Drop partitions past their retention', 'livewell.task_job_retention',
 null, '0 2 * * 0', '20 minutes', '40 minutes', '10 minutes', '8 days',
 (date_trunc('week', clock_timestamp() at time zone 'UTC') + interval '6 days 2 hours') at time zone 'UTC'),
('audit_seal', 'Chain the audit entries written since the last seal', 'livewell.task_audit_seal',
 '10 seconds', null, '5 seconds', '20 seconds', '5 minutes', '10 minutes', clock_timestamp()),
('settings_care', 'Find settings whose value is outside its bounds', 'livewell.task_settings_care',
 '1 day', null, '20 minutes', '40 minutes', '1 minute', '2 days', clock_timestamp()),
('task_history', 'Forget runs of tasks past their retention', 'livewell_private.task_task_history',
 '1 hour', null, '20 minutes', '40 minutes', '5 minutes', '3 hours', clock_timestamp())
on conflict (name) do nothing;
