-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.issuer (
    name text not null,
    issuer text not null,
    audience text not null,
    algorithm text not null,
    secret text,
    jwks text,
    tenant_claim text not null default 'tenant'::text,
    role text not null default 'livewell_user'::text,
    scopes_claim text,
    scopes jsonb not null default '{}'::jsonb,
    leeway interval not null default '00:00:10'::interval,
    enabled boolean not null default true,
    created_at timestamp with time zone not null default clock_timestamp(),
    updated_at timestamp with time zone not null default clock_timestamp(),
    constraint issuer_claims_are_names CHECK ((((length(tenant_claim) >= 1) AND (length(tenant_claim) <= 100)) AND ((length(scopes_claim) >= 1) AND (length(scopes_claim) <= 100)))),
    constraint issuer_has_a_name CHECK ((name ~ '^[a-z][a-z0-9_-]{0,62}$'::text)),
    constraint issuer_has_a_secret_or_keys CHECK ((((algorithm = 'HS256'::text) = (secret IS NOT NULL)) AND ((algorithm <> 'HS256'::text) = (jwks IS NOT NULL)))),
    constraint issuer_has_one_algorithm CHECK ((algorithm = ANY (ARRAY['HS256'::text, 'RS256'::text, 'ES256'::text, 'EdDSA'::text]))),
    constraint issuer_is_a_text CHECK ((((length(issuer) >= 1) AND (length(issuer) <= 500)) AND ((length(audience) >= 1) AND (length(audience) <= 500)))),
    constraint issuer_is_known_by_one_name UNIQUE (issuer),
    constraint issuer_keys_are_a_source CHECK (((jwks ~ '^(file:/.+|https?://.+)$'::text) AND (length(jwks) <= 2000))),
    constraint issuer_leeway_is_small CHECK (((leeway >= '00:00:00'::interval) AND (leeway <= '00:01:00'::interval))),
    constraint issuer_pkey PRIMARY KEY (name),
    constraint issuer_scopes_are_known CHECK (((jsonb_typeof(scopes) = 'object'::text) AND (NOT jsonb_path_exists(scopes, '$.*?(!(((@ == "service" || @ == "operator") || @ == "observer") || @ == "user"))'::jsonpath)))),
    constraint issuer_secret_is_a_source CHECK (((secret ~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$'::text) AND (length(secret) <= 500)))
);
