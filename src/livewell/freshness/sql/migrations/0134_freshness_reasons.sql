-- Why an item's last fetch came to what it did, and how many of its refreshes failed for good in a row.
alter table livewell_private.item
    add column last_reason text,
    add column failed_refreshes integer not null default 0;

alter table livewell_private.item
    add constraint item_reason_is_short check (length(last_reason) <= 300) not valid,
    add constraint item_failed_refreshes_are_not_negative check (failed_refreshes >= 0) not valid;

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.failed_again_max', 'duration', '01:00:00', '01:00:00', '00:00:10', '7 days',
 'How long at most a watched item waits for another refresh after several have failed for good; each waits twice as long.')
on conflict (name) do nothing;
