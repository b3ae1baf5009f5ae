-- Whether whoever asks, by the verified claims of the request, may read or write a subject: its owner, or one it is shared with; of a
-- subject that has a tenant only whoever is of that tenant. For any policy, download or page. Who is not signed in has access to nothing.
-- for: service, user, anon
create or replace function livewell.has_access(p_subject text, p_right text default 'read') returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_user constant text := livewell_private.claimed_user();
begin
    if p_right is null or p_right not in ('read', 'write') then
        raise exception using errcode = 'LWC03', message = 'a right is read or write', hint = 'livewell.has_access(subject, ''write'')';
    end if;
    return v_user is not null and exists (
        select from livewell_private.subject as s
        left join livewell_private.share as h on h.subject = s.id and h.user_id = v_user
        where s.id = p_subject and (s.owner = v_user or h.rights = 'write' or (h.rights = 'read' and p_right = 'read'))
            and (s.tenant is null or s.tenant = any (livewell_private.claim_texts('tenant')))
    );
end $$;
