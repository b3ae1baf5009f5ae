-- How large a job and its result may be. The least is what every batch is passed without being looked at, job by job.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
values
    ('jobs.payload_bytes', 'integer', '1048576', '1048576', '65536', '104857600', null,
     'How many bytes a job may have when it is queued, payload and all; larger things belong into a table of your own.'),
    ('jobs.result_bytes', 'integer', '1048576', '1048576', '65536', '104857600', null,
     'How many bytes what a finished job leaves may have: its result, its error and what it says of itself.')
on conflict (name) do nothing;
