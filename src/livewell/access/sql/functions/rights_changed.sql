-- Says that what viewers may see changed for a reason Livewell does not know: a policy, a table of the application's own. Of one user,
-- one type, or everybody. What they see is asked anew at once.
-- for: service
create or replace function livewell.rights_changed(p_user text default null, p_type text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if length(p_user) > 200 then
        raise exception using errcode = 'LWC03', message = 'a user has 1 to 200 characters', hint = 'leave it out for everybody';
    end if;
    if p_type is not null then
        perform livewell_private.require_type(p_type);
    end if;
    perform livewell_private.tell_rights(jsonb_build_object('user', p_user, 'type', p_type));
end $$;
