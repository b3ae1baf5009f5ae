-- What whoever asks may read or write, and how: its own, and what is shared with it. For policies over many rows, in which it is asked
-- once: `subject in (select id from livewell.my_subjects())`. Who is not signed in has none.
-- for: service, user, anon
create or replace function livewell.my_subjects(p_right text default 'read')
returns table (id text, kind text, owner text, tenant text, rights text, since timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    v_user constant text := livewell_private.claimed_user();
    v_tenants constant text[] := livewell_private.claim_texts('tenant');
begin
    return query
    select s.id, s.kind, s.owner, s.tenant, 'own', s.created_at from livewell_private.subject as s
    where s.owner = v_user and (s.tenant is null or s.tenant = any (v_tenants))
    union all
    select s.id, s.kind, s.owner, s.tenant, h.rights, h.since
    from livewell_private.share as h join livewell_private.subject as s on s.id = h.subject
    where h.user_id = v_user and s.owner <> v_user and (h.rights = 'write' or p_right = 'read')
        and (s.tenant is null or s.tenant = any (v_tenants));
end $$;
