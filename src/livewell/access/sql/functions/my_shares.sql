-- With whom a subject of whoever asks is shared, to do what, by whom and since when.
-- for: service, user
create or replace function livewell.my_shares(p_subject text)
returns table (user_id text, rights text, shared_by text, since timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_own_subject(p_subject);
    return query
    select h.user_id, h.rights, h.shared_by, h.since from livewell_private.share as h where h.subject = p_subject order by h.user_id;
end $$;
