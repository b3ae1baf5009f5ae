-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.viewer (
    item_id bigint not null,
    user_id text collate C not null,
    sessions integer not null,
    counted boolean not null default true,
    constraint viewer_pkey PRIMARY KEY (item_id, user_id),
    constraint viewer_sessions_are_not_negative CHECK ((sessions >= 0))
) with (fillfactor=70);
