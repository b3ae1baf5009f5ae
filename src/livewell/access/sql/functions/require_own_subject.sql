-- Refuses a subject that is not of whoever asks: the service has all, a user what it owns. To anybody else it is as if it were not there.
-- for: internal
create or replace function livewell_private.require_own_subject(p_subject text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_for_service constant boolean := livewell_private.is_service(livewell_private.calling_role());
    v_user constant text := case when not v_for_service then livewell.current_user_id() end;
begin
    if not exists (
        select from livewell_private.subject as s
        where s.id = p_subject and (v_for_service or (
            s.owner = v_user and (s.tenant is null or s.tenant = any (livewell_private.claim_texts('tenant')))
        ))
    ) then
        raise exception using errcode = 'LWC07', message = format('there is no subject %s of yours', coalesce(quote_ident(left(p_subject, 100)), 'without an id')),
            hint = 'livewell.my_subjects has what is yours, livewell.create_subject makes one';
    end if;
end $$;
