-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.fetch_state (
    item_id bigint not null,
    etag text,
    last_modified text,
    constraint fetch_state_is_of_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint fetch_state_pkey PRIMARY KEY (item_id),
    constraint fetch_state_says_something CHECK ((num_nonnulls(etag, last_modified) > 0))
) with (fillfactor=70);
