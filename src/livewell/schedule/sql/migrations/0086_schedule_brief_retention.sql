-- Completed refreshes are dropped as their time is over, not on Sundays.
insert into livewell_private.task (name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('brief_retention', 'Drop completed refreshes past their retention', 'livewell.task_brief_retention',
 '5 minutes', '1 minute', '5 minutes', '1 minute', '1 hour', clock_timestamp())
on conflict (name) do nothing;
