-- The row that decides for an endpoint, locked.
-- for: internal
create or replace function livewell.lock_limit_of_endpoint(p_name text) returns livewell.limit_use
language plpgsql security definer
set search_path = '' as $$
declare
    v_use livewell.limit_use;
begin
    select u.* into v_use from livewell.limit_use as u
    where u.name = p_name and exists (select from livewell.endpoint as e where e.name = p_name)
    for update;
    if not found then
        raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(p_name, '')),
            hint = 'livewell endpoint list';
    end if;
    return v_use;
end $$;
