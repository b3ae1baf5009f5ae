-- Whom an access key lets in, found by its hash: unknown, revoked, expired, or admitted with what it may. When it was used is kept to
-- the hour, and nobody waits for that.
-- for: service
create or replace function livewell.admit_access_key(
    p_hash bytea, p_now timestamptz default clock_timestamp(),
    out outcome text, out id text, out scopes text[], out user_id text, out tenant text, out expires_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_key livewell_private.access_key;
begin
    perform livewell_private.require_primary();
    select k.* into v_key from livewell_private.access_key as k where k.hash = p_hash;
    if not found then
        outcome := 'unknown';
        return;
    end if;
    id := v_key.id;
    if v_key.revoked_at is not null then
        outcome := 'revoked';
        return;
    end if;
    if v_key.expires_at <= p_now then
        outcome := 'expired';
        return;
    end if;
    outcome := 'admitted';
    scopes := v_key.scopes;
    user_id := v_key.user_id;
    tenant := v_key.tenant;
    expires_at := v_key.expires_at;
    if v_key.last_used is null or v_key.last_used < date_trunc('hour', p_now) then
        update livewell_private.access_key as k set last_used = date_trunc('hour', p_now)
        where k.id = (select f.id from livewell_private.access_key as f where f.id = v_key.id for update skip locked);
    end if;
end $$;
