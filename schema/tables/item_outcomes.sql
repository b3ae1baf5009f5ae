-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.item_outcomes (
    item_id bigint not null,
    outcomes livewell.refresh_outcome[] not null,
    constraint item_outcomes_have_an_item FOREIGN KEY (item_id) REFERENCES livewell.item(id) ON DELETE CASCADE,
    constraint item_outcomes_pkey PRIMARY KEY (item_id)
) with (fillfactor=50);
