-- The tasks that ship with this room; tuned values are never overwritten.
insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('check', 'Find watched items that are stale and queue their refresh', 'livewell_private.task_check',
 '1 second', null, '1 second', '4 seconds', '1 minute', '3 minutes', clock_timestamp()),
('freshness_sweep', 'Look at everything watched, slowly, for what nobody told', 'livewell_private.task_freshness_sweep',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '20 minutes', clock_timestamp())
on conflict (name) do nothing;
