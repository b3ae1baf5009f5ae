-- Settings are rows, so that a change is one audited call and takes effect without a restart.
create table livewell_private.setting (
    name text not null,
    type text not null,
    value text not null,
    default_value text not null,
    minimum text,
    maximum text,
    less_than text,
    choices text[],
    description text not null,
    sensitive boolean not null default false,
    updated_at timestamptz not null default clock_timestamp(),
    updated_by text not null default 'livewell',
    constraint setting_is_named_once primary key (name),
    constraint setting_name_is_dotted check (name ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$'),
    constraint setting_type_is_known check (type in ('boolean', 'integer', 'number', 'duration', 'text', 'json')),
    constraint setting_is_described check (description <> ''),
    constraint setting_bounds_are_for_what_has_an_order check (
        type in ('integer', 'number', 'duration') or coalesce(minimum, maximum, less_than) is null
    ),
    constraint setting_choices_are_for_text check (type = 'text' or choices is null),
    constraint setting_value_is_a_choice check (value = any (choices)),
    constraint setting_value_fits_its_type check (
        case type
            when 'boolean' then value in ('true', 'false')
            when 'integer' then value ~ '^-?\d+$'
            when 'number' then value ~ '^-?\d+(\.\d+)?$'
            when 'duration' then value::interval is not null
            when 'json' then value::jsonb is not null
            else true
        end
    ),
    constraint setting_value_is_within_bounds check (
        case
            when type in ('integer', 'number') then
                value::numeric >= coalesce(minimum, value)::numeric and value::numeric <= coalesce(maximum, value)::numeric
            when type = 'duration' then
                value::interval >= coalesce(minimum, value)::interval and value::interval <= coalesce(maximum, value)::interval
            else true
        end
    ),
    constraint setting_greater_one_exists foreign key (less_than) references livewell_private.setting (name)
);

comment on table livewell_private.setting is 'Every setting: its type, value, bounds and meaning.';
comment on column livewell_private.setting.less_than is 'The setting whose value must stay greater than this one''s.';
comment on column livewell_private.setting.sensitive is 'Shown as ••• in lists, logs and the audit log.';

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
select name, type, value, value, minimum, maximum, less_than, description
from (values
    ('worker.timeout', 'duration', '00:05:00', '00:00:01', '1 day', null,
     'How long a lease lasts without a heartbeat before the job may be rescued.'),
    ('worker.heartbeat_interval', 'duration', '00:00:30', '00:00:00.05', '01:00:00', 'worker.timeout',
     'How often a worker renews the leases of the jobs it holds.'),
    ('worker.reclaim_jitter_max', 'duration', '00:01:00', '00:00:00', '01:00:00', null,
     'Up to this much random delay is put before a rescued job runs again, per job.'),
    ('worker.claim_batch', 'integer', '50', '1', '10000', null,
     'How many jobs a worker claims in one call at most.'),
    ('worker.concurrency', 'integer', '50', '1', '10000', null,
     'How many general jobs a worker runs at the same time.'),
    ('worker.poll_interval', 'duration', '00:00:05', '00:00:00.05', '00:10:00', null,
     'How often an idle worker looks for jobs when no notification arrives.'),
    ('queue.backpressure_delay', 'duration', '00:00:30', '00:00:00', '1 day', null,
     'How long a job waits that was rescheduled without a delay of its own, as for want of capacity.'),
    ('queue.enqueue_enabled', 'boolean', 'true', null, null, null,
     'Whether new jobs are accepted; false refuses them with a fact.'),
    ('jobs.retention.completed', 'duration', '7 days', '1 day', '3650 days', null,
     'How long completed jobs are kept before their day is dropped.'),
    ('jobs.retention.cancelled', 'duration', '7 days', '1 day', '3650 days', null,
     'How long cancelled jobs are kept before their day is dropped.'),
    ('jobs.retention.failed', 'duration', '30 days', '1 day', '3650 days', null,
     'How long failed jobs are kept once acknowledged; one not acknowledged is never dropped.'),
    ('audit.seal_interval', 'duration', '00:00:10', '00:00:00.1', '01:00:00', null,
     'How often the sealer chains the audit entries written since its last seal.'),
    ('settings.poll_interval', 'duration', '00:00:30', '00:00:01', '01:00:00', null,
     'How often a running process reads the settings again when no notification arrives.'),
    ('maintenance.enabled', 'boolean', 'false', null, null, null,
     'Maintenance mode: nothing is claimed; enqueue goes on and workers finish what they hold.'),
    ('maintenance.refuse_uploads', 'boolean', 'false', null, null, null,
     'Whether uploads are refused as well; maintenance mode alone does not refuse them.'),
    ('features.usage_tracking_enabled', 'boolean', 'true', null, null, null,
     'Whether usage is counted per user and month.'),
    ('features.billing_enabled', 'boolean', 'false', null, null, null,
     'Whether usage is billed.'),
    ('features.upgrade_prompts_enabled', 'boolean', 'false', null, null, null,
     'Whether users near a limit are shown how to upgrade.'),
    ('priority.on_subscribe', 'integer', '1000', '0', '1000000', null,
     'Priority of the refresh of an item that is missing or stale when somebody subscribes to it.'),
    ('quota.low_share', 'number', '0.9', '0', '1', null,
     'Share of a quota from which on scheduled and prefetch work pauses.')
) as seeded (name, type, value, minimum, maximum, less_than, description);
