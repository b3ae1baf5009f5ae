-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.probe (
    item_id bigint not null,
    drawn_at timestamp with time zone not null,
    constraint probe_has_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint probe_pkey PRIMARY KEY (item_id)
);
