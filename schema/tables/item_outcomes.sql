-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.item_outcomes (
    item_id bigint not null,
    outcomes livewell_private.refresh_outcome[] not null,
    constraint item_outcomes_have_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint item_outcomes_pkey PRIMARY KEY (item_id)
) with (fillfactor=50);
