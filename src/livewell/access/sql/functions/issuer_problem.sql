-- Why an issuer cannot be so, in words that name the field; null when it can. Its viewers' role may do no more than any viewer: whoever
-- has more would read by it what is not theirs.
-- for: internal
create or replace function livewell_private.issuer_problem(p_issuer livewell_private.issuer) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select case
        when (p_issuer).name !~ '^[a-z][a-z0-9_-]{0,62}$' then 'its name must be of small letters, digits, - and _, at most 63'
        when coalesce(length((p_issuer).issuer), 0) not between 1 and 500 then 'issuer is missing: what its tokens have as iss'
        when coalesce(length((p_issuer).audience), 0) not between 1 and 500 then 'audience is missing: what its tokens have as aud'
        when coalesce((p_issuer).algorithm, '') not in ('HS256', 'RS256', 'ES256', 'EdDSA')
            then 'algorithm must be HS256, RS256, ES256 or EdDSA'
        when (p_issuer).algorithm = 'HS256' and ((p_issuer).secret is null or (p_issuer).jwks is not null)
            then 'HS256 needs secret_env or secret_file, and no keys'
        when (p_issuer).algorithm <> 'HS256' and ((p_issuer).jwks is null or (p_issuer).secret is not null)
            then format('%s needs jwks_url or jwks_file, and no secret', (p_issuer).algorithm)
        when (p_issuer).jwks ~ '^http://' and (p_issuer).jwks !~ '^http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?/'
            then 'jwks_url must be https: who changes the keys on their way comes in as anybody'
        when (p_issuer).jwks ~ '[[:cntrl:][:space:]]|//[^/]*@' then 'jwks_url has a space or a password in it'
        when exists (select from livewell_private.issuer as i where i.issuer = (p_issuer).issuer and i.name <> (p_issuer).name)
            then 'another issuer has this iss: one issuer has one algorithm'
        when to_regrole(quote_ident((p_issuer).role)) is null then format('there is no role %s', (p_issuer).role)
        when exists (
            select from pg_catalog.pg_roles as r
            where r.rolname = (p_issuer).role and (r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolreplication)
        ) or exists (
            select from unnest(array['livewell_owner', 'livewell_service', 'livewell_reader', 'livewell_writer']) as m (role)
            where pg_catalog.pg_has_role((p_issuer).role, m.role, 'member')
        ) then format('role %s may do more than a viewer', (p_issuer).role)
        when not pg_catalog.pg_has_role((p_issuer).role, 'livewell_user', 'usage') and (p_issuer).role <> 'livewell_anon'
            then format('role %s is no viewer: grant livewell_user to it', (p_issuer).role)
        when (p_issuer).scopes <> '{}' and (p_issuer).scopes_claim is null then 'scopes need scopes_claim: in which claim they are'
    end
$$;
