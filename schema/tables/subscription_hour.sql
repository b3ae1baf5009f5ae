-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.subscription_hour (
    hour timestamp with time zone not null,
    data_type text not null,
    samples integer not null,
    items_sum bigint not null,
    items_max integer not null,
    viewers_sum bigint not null,
    viewers_max integer not null,
    subscriptions_sum bigint not null,
    subscriptions_max integer not null,
    constraint subscription_hour_has_samples CHECK ((samples > 0)),
    constraint subscription_hour_pkey PRIMARY KEY (hour, data_type)
) with (fillfactor=70);
