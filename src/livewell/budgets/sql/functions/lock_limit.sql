-- The row that decides for an endpoint, an account or a scope of keys, locked.
-- for: internal
create or replace function livewell_private.lock_limit(p_name text) returns livewell_private.limit_use
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_use livewell_private.limit_use;
begin
    select u.* into v_use from livewell_private.limit_use as u where u.name = p_name for update;
    if not found then
        raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(p_name, '')),
            hint = 'livewell endpoints list';
    end if;
    return v_use;
end $$;
