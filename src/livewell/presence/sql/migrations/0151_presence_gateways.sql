-- A gateway renews itself more often than a client without one and is gone sooner. How long it lives after it was last seen is a column
-- of its own, so that the gateways of presence sources keep the time of sources.
alter table livewell_private.gateway add column gone_after interval not null default '5 minutes';

-- Which gateway closed it: what another one has by now is not ended. Null: whoever has it.
alter table livewell_private.session_leaving add column gateway text;

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
values
('live.renew_every', 'duration', '00:00:10', '00:00:10', '00:00:01', '00:10:00', 'live.gone_after',
 'How often a gateway renews all its sessions.'),
('live.gone_after', 'duration', '00:00:45', '00:00:45', '00:00:05', '01:00:00', null,
 'How long the sessions of a gateway live without its renewing them.'),
('live.dwell', 'duration', '00:00:00.5', '00:00:00.5', '00:00:00', '00:01:00', null,
 'How long somebody looks at an item of a gateway before it is refreshed for it; what is stored is shown at once.');

update livewell_private.setting
set description = 'How often a client without a gateway renews its session.' where name = 'presence.heartbeat_interval';
update livewell_private.setting
set description = 'How long a session without a gateway lives without being renewed, and a silent presence source keeps its viewers.'
where name = 'presence.gone_after';

-- A gateway that is gone is found soon; who has chosen another pause keeps it.
update livewell_private.task set every = '10 seconds' where name = 'presence_sweep' and every = '1 minute';
