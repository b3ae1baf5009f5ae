-- The care of warnings and of the notification queue joins the tasks that ship.
insert into livewell_private.task (name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('warnings', 'Roll up warnings by hour, drop those past their retention', 'livewell_private.task_warnings',
 '1 minute', '10 seconds', '1 minute', '1 minute', '10 minutes', clock_timestamp()),
('notification_queue', 'Keep the notification queue from filling up, name who holds it', 'livewell_private.task_notification_queue',
 '10 seconds', '5 seconds', '20 seconds', '1 minute', '2 minutes', clock_timestamp())
on conflict (name) do nothing;

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('warnings.retention', 'duration', '30 days', '30 days', '01:00:00', '3650 days',
 'How long warnings are kept.')
on conflict (name) do nothing;
