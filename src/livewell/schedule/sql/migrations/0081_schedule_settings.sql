-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('schedule.poll_interval', 'duration', '00:00:15', '00:00:15', '00:00:00.05', '00:10:00',
 'How often a scheduler looks for due tasks when neither the clock nor a notification has told it to.'),
('schedule.history_retention', 'duration', '14 days', '14 days', '01:00:00', '3650 days',
 'How long the runs of tasks are kept.')
on conflict (name) do nothing;
