-- The sessions of exchanges are kept a year ahead by a handler of the program, which has the calendars.
insert into livewell.task (name, description, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('market_calendar', 'Keep the sessions of exchanges in use a year ahead', '1 day', '20 minutes', '40 minutes', '10 minutes',
 '2 days', clock_timestamp())
on conflict (name) do nothing;
