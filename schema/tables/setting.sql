-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

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
    updated_at timestamp with time zone not null default clock_timestamp(),
    updated_by text not null default 'livewell'::text,
    constraint setting_bounds_are_for_what_has_an_order CHECK (((type = ANY (ARRAY['integer'::text, 'number'::text, 'duration'::text])) OR (COALESCE(minimum, maximum, less_than) IS NULL))),
    constraint setting_choices_are_for_text CHECK (((type = 'text'::text) OR (choices IS NULL))),
    constraint setting_greater_one_exists FOREIGN KEY (less_than) REFERENCES livewell_private.setting(name),
    constraint setting_is_described CHECK ((description <> ''::text)),
    constraint setting_is_named_once PRIMARY KEY (name),
    constraint setting_name_is_dotted CHECK ((name ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$'::text)),
    constraint setting_type_is_known CHECK ((type = ANY (ARRAY['boolean'::text, 'integer'::text, 'number'::text, 'duration'::text, 'text'::text, 'json'::text]))),
    constraint setting_value_fits_its_type CHECK (
CASE type
    WHEN 'boolean'::text THEN (value = ANY (ARRAY['true'::text, 'false'::text]))
    WHEN 'integer'::text THEN (value ~ '^-?\d+$'::text)
    WHEN 'number'::text THEN (value ~ '^-?\d+(\.\d+)?$'::text)
    WHEN 'duration'::text THEN ((value)::interval IS NOT NULL)
    WHEN 'json'::text THEN ((value)::jsonb IS NOT NULL)
    ELSE true
END),
    constraint setting_value_is_a_choice CHECK ((value = ANY (choices))),
    constraint setting_value_is_within_bounds CHECK (
CASE
    WHEN (type = ANY (ARRAY['integer'::text, 'number'::text])) THEN (((value)::numeric >= (COALESCE(minimum, value))::numeric) AND ((value)::numeric <= (COALESCE(maximum, value))::numeric))
    WHEN (type = 'duration'::text) THEN (((value)::interval >= (COALESCE(minimum, value))::interval) AND ((value)::interval <= (COALESCE(maximum, value))::interval))
    ELSE true
END)
);
