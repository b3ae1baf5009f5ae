-- How many of an item's viewers do not count for its rank: they look at very many items, or are anonymous among many.
alter table livewell_private.item add column uncounted integer not null default 0;

alter table livewell_private.item
    add constraint item_uncounted_are_viewers check (uncounted = 0 or uncounted between 1 and viewers) not valid;

-- Of the keys of a type that were asked for the first time, how many there were and how many the provider had; old ones count less.
alter table livewell_private.type_learning
    add column new_keys double precision not null default 0,
    add column new_found double precision not null default 0;
alter table livewell_private.learned
    add column new_keys integer not null default 0,
    add column new_found integer not null default 0;

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.asked_per_user', 'integer', '50', '50', '1', '100000',
 'How many refreshes that one user asked for by subscribing may wait at an endpoint; the checker takes the others in their turn.'),
('freshness.new_keys_share', 'number', '0.25', '0.25', '0.01', '1',
 'Which part of what an endpoint can start soon goes to keys that were never fetched while others wait; under the policy value.'),
('freshness.gone_again_max', 'duration', '1 day', '1 day', '00:00:10', '30 days',
 'How long at most a key that the provider does not have waits until it is asked for again; each time it is gone waits twice as long.')
on conflict (name) do nothing;
