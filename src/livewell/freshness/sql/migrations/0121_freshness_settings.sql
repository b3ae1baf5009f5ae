-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.max_items', 'integer', '1000', '1000', '1', '1000000', 'How many items one run of the checker looks at.'),
('freshness.max_time', 'duration', '00:00:50', '00:00:50', '00:00:00.01', '01:00:00',
 'How long one run of the checker may go on taking more items.'),
('freshness.queued_again', 'duration', '00:02:00', '00:02:00', '00:00:01', '1 day',
 'When an item whose refresh was queued is looked at again, if nothing was heard of it.'),
('freshness.look_again', 'duration', '00:00:05', '00:00:05', '00:00:00.1', '01:00:00',
 'When an item that is worth a refresh but found no room is looked at again.'),
('freshness.horizon', 'duration', '00:00:03', '00:00:03', '00:00:00.1', '00:10:00',
 'How far ahead the value policy queues: what an endpoint can start in this time, and no more.'),
('freshness.mean_stay', 'duration', '00:12:00', '00:12:00', '00:00:10', '1 day',
 'How long a viewer stays on average: for so long today''s viewers count, after that the slow average.'),
('freshness.sweep_every', 'duration', '00:15:00', '00:15:00', '00:00:01', '1 day',
 'How long a full sweep over everything watched takes.')
on conflict (name) do nothing;
