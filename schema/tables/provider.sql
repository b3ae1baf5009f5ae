-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.provider (
    name text not null,
    state text not null default 'active'::text,
    description text not null default ''::text,
    base_url text,
    quota_bytes bigint,
    quota_window interval not null default '30 days'::interval,
    quota_use double precision not null default 0.95,
    pace text not null default 'even'::text,
    pace_bucket interval not null default '01:00:00'::interval,
    policy text,
    hosts text[] not null default '{}'::text[],
    key_in text,
    allow_private boolean not null default false,
    created_at timestamp with time zone not null default clock_timestamp(),
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint provider_bucket_is_within_the_window CHECK (((pace_bucket > '00:00:00'::interval) AND (pace_bucket <= quota_window))),
    constraint provider_is_a_name CHECK ((name ~ '^[^\s/@]{1,100}$'::text)),
    constraint provider_key_travels_somewhere CHECK (((key_in = 'bearer'::text) OR (key_in ~ '^(query|header):[A-Za-z0-9._-]{1,100}$'::text))),
    constraint provider_pace_is_known CHECK ((pace = ANY (ARRAY['even'::text, 'none'::text]))),
    constraint provider_pkey PRIMARY KEY (name),
    constraint provider_policy_is_known CHECK ((policy = ANY (ARRAY['viewers'::text, 'value'::text]))),
    constraint provider_quota_is_positive CHECK ((quota_bytes > 0)),
    constraint provider_state_is_known CHECK ((state = ANY (ARRAY['active'::text, 'disabled'::text, 'maintenance'::text]))),
    constraint provider_use_is_a_share CHECK (((quota_use > (0)::double precision) AND (quota_use <= (1)::double precision))),
    constraint provider_window_is_whole_hours CHECK (((quota_window >= '01:00:00'::interval) AND (quota_window <= '400 days'::interval) AND (mod(EXTRACT(epoch FROM quota_window), (3600)::numeric) = (0)::numeric)))
);
