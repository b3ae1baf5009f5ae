-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.access_key (
    id text not null,
    name text not null,
    hash bytea not null,
    scopes text[] not null,
    user_id text,
    tenant text,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used timestamp with time zone,
    created_at timestamp with time zone not null default clock_timestamp(),
    created_by text not null default SESSION_USER,
    constraint access_key_has_a_name CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    constraint access_key_has_an_id CHECK ((id ~ '^[0-9a-f]{12}$'::text)),
    constraint access_key_has_known_scopes CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['service'::text, 'operator'::text, 'observer'::text, 'user'::text]))),
    constraint access_key_hash_is_a_sha256 CHECK ((length(hash) = 32)),
    constraint access_key_is_known_by_its_hash UNIQUE (hash),
    constraint access_key_of_a_user_names_it CHECK ((((length(user_id) >= 1) AND (length(user_id) <= 200)) AND (('user'::text <> ALL (scopes)) OR (user_id IS NOT NULL)))),
    constraint access_key_pkey PRIMARY KEY (id),
    constraint access_key_tenant_is_a_text CHECK (((length(tenant) >= 1) AND (length(tenant) <= 200)))
) with (fillfactor=70);
