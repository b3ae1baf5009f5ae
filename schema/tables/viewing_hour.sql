-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.viewing_hour (
    hour integer not null,
    item_id bigint not null,
    level real not null,
    day integer not null,
    constraint viewing_hour_has_an_item FOREIGN KEY (item_id) REFERENCES livewell_private.item(id) ON DELETE CASCADE,
    constraint viewing_hour_is_of_a_day CHECK (((hour >= 0) AND (hour <= 23))),
    constraint viewing_hour_pkey PRIMARY KEY (item_id, hour)
) with (fillfactor=70);

CREATE INDEX viewing_hour_best ON livewell_private.viewing_hour USING btree (hour, level DESC);
