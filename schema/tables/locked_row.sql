-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.locked_row (
    id bigint not null generated always as identity,
    table_name text not null,
    row_key text not null,
    noted_at timestamp with time zone not null,
    holder text not null,
    constraint locked_row_pkey PRIMARY KEY (id)
);

CREATE INDEX locked_row_by_row ON livewell_private.locked_row USING btree (table_name, row_key, noted_at);
