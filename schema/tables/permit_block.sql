-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.permit_block (
    id uuid not null,
    endpoint text not null,
    api_key text,
    holder text not null,
    tokens integer not null,
    bytes bigint not null,
    open integer[] not null,
    granted_at timestamp with time zone not null,
    lease_until timestamp with time zone not null,
    constraint permit_block_has_an_endpoint FOREIGN KEY (endpoint) REFERENCES livewell_private.endpoint(name) ON DELETE CASCADE,
    constraint permit_block_pkey PRIMARY KEY (id)
) with (fillfactor=70);

CREATE INDEX permit_block_endpoint ON livewell_private.permit_block USING btree (endpoint);

CREATE INDEX permit_block_lease ON livewell_private.permit_block USING btree (lease_until);
