-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.subscription (
    session_id uuid not null,
    item_id bigint not null,
    constraint subscription_pkey PRIMARY KEY (session_id, item_id)
);
