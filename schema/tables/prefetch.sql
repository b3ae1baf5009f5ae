-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.prefetch (
    item_id bigint not null,
    provider text not null,
    asked_at timestamp with time zone not null,
    constraint prefetch_has_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint prefetch_pkey PRIMARY KEY (item_id)
);
