-- Whether a user who looks at an item counts for its rank.
alter table livewell_private.viewer add column counted boolean not null default true;

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('presence.counted_items', 'integer', '20', '20', '1', '100000',
 'For how many items at once one user counts as a viewer; what the user looks at beyond is refreshed behind what others look at.'),
('presence.anonymous_viewers', 'integer', '10', '10', '0', '1000000',
 'As how many viewers of an item anonymous users count at most, however many they are.')
on conflict (name) do nothing;
