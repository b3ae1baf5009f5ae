-- The care of budgets joins the tasks that ship.
insert into livewell_private.task (name, description, run, every, backoff_min, backoff_max, time_limit, late_after, due_at)
values
('budget_care', 'Book permits of silent holders, drop old hours of the ledger', 'livewell.task_budget_care',
 '1 minute', '10 seconds', '1 minute', '5 minutes', '10 minutes', clock_timestamp())
on conflict (name) do nothing;
