-- Who may come in and see what: whose tokens count, access keys, and subjects with those they are shared with.

-- Whose tokens count: what a token names as its issuer and must name as its audience, by which algorithm it is signed, and where the
-- secret or the public keys are. The secret itself is where the source says, never here. `scopes` says which of what the claim
-- `scopes_claim` has means which scope.
create table livewell_private.issuer (
    name text not null,
    issuer text not null,
    audience text not null,
    algorithm text not null,
    secret text,
    jwks text,
    tenant_claim text not null default 'tenant',
    role text not null default 'livewell_user',
    scopes_claim text,
    scopes jsonb not null default '{}',
    leeway interval not null default '10 seconds',
    enabled boolean not null default true,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint issuer_pkey primary key (name),
    constraint issuer_is_known_by_one_name unique (issuer),
    constraint issuer_has_a_name check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    constraint issuer_is_a_text check (length(issuer) between 1 and 500 and length(audience) between 1 and 500),
    constraint issuer_has_one_algorithm check (algorithm in ('HS256', 'RS256', 'ES256', 'EdDSA')),
    constraint issuer_has_a_secret_or_keys check (
        (algorithm = 'HS256') = (secret is not null) and (algorithm <> 'HS256') = (jwks is not null)
    ),
    constraint issuer_secret_is_a_source check (secret ~ '^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$' and length(secret) <= 500),
    constraint issuer_keys_are_a_source check (jwks ~ '^(file:/.+|https?://.+)$' and length(jwks) <= 2000),
    constraint issuer_claims_are_names check (length(tenant_claim) between 1 and 100 and length(scopes_claim) between 1 and 100),
    constraint issuer_scopes_are_known check (
        jsonb_typeof(scopes) = 'object' and not jsonb_path_exists(
            scopes, '$.* ? (!(@ == "service" || @ == "operator" || @ == "observer" || @ == "user"))'
        )
    ),
    constraint issuer_leeway_is_small check (leeway between interval '0' and interval '1 minute')
);

-- Access keys. What is kept of one is its hash: a key of 256 random bits is guessed by nobody, and found by its hash alone.
create table livewell_private.access_key (
    id text not null,
    name text not null,
    hash bytea not null,
    scopes text[] not null,
    user_id text,
    tenant text,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    created_by text not null default session_user,
    constraint access_key_pkey primary key (id),
    constraint access_key_is_known_by_its_hash unique (hash),
    constraint access_key_has_an_id check (id ~ '^[0-9a-f]{12}$'),
    constraint access_key_hash_is_a_sha256 check (length(hash) = 32),
    constraint access_key_has_a_name check (length(name) between 1 and 100),
    constraint access_key_has_known_scopes check (
        cardinality(scopes) > 0 and scopes <@ array['service', 'operator', 'observer', 'user']
    ),
    constraint access_key_of_a_user_names_it check (
        length(user_id) between 1 and 200 and ('user' <> all (scopes) or user_id is not null)
    ),
    constraint access_key_tenant_is_a_text check (length(tenant) between 1 and 200)
) with (fillfactor = 70);

-- What belongs to somebody and is shared: a profile, a patient, an account.
create table livewell_private.subject (
    id text collate "C" not null,
    kind text not null,
    owner text collate "C" not null,
    tenant text,
    created_at timestamptz not null default clock_timestamp(),
    constraint subject_pkey primary key (id),
    constraint subject_has_an_id check (length(id) between 1 and 200),
    constraint subject_has_a_kind check (kind ~ '^[a-z][a-z0-9_-]{0,62}$'),
    constraint subject_has_an_owner check (length(owner) between 1 and 200),
    constraint subject_tenant_is_a_text check (length(tenant) between 1 and 200)
);

create index subject_owner on livewell_private.subject (owner);

create table livewell_private.share (
    subject text collate "C" not null,
    user_id text collate "C" not null,
    rights text not null,
    shared_by text not null,
    since timestamptz not null default clock_timestamp(),
    constraint share_pkey primary key (subject, user_id),
    constraint share_is_of_a_subject foreign key (subject) references livewell_private.subject (id) on delete cascade,
    constraint share_is_with_a_user check (length(user_id) between 1 and 200),
    constraint share_rights_are_known check (rights in ('read', 'write'))
);

create index share_user on livewell_private.share (user_id);

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('live.recheck', 'duration', '00:01:00', '00:01:00', '00:00:01', '01:00:00',
 'How often it is asked anew what viewers may see; what tells of a change acts at once.');
