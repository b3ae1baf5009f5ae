-- The sessions of exchanges are kept a year ahead by programs, which have the calendars; where only pg_cron runs tasks, the
-- function warns when they run out.
insert into livewell_private.task (name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('market_calendar', 'Keep the sessions of exchanges in use a year ahead', 'livewell_private.task_market_calendar', '1 day', '20 minutes',
 '40 minutes', '10 minutes', '2 days', clock_timestamp())
on conflict (name) do nothing;
