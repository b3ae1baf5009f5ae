-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.user_call (
    user_id text not null,
    minute timestamp with time zone not null,
    calls integer not null,
    constraint user_call_pkey PRIMARY KEY (user_id)
) with (fillfactor=50);
