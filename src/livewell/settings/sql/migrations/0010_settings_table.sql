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
