-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.sample (
    item_id bigint not null,
    drawn_at timestamp with time zone not null,
    constraint sample_has_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint sample_pkey PRIMARY KEY (item_id)
);
