-- Refuses sessions without an id or a user, and users that cannot be one.
-- for: internal
create or replace function livewell_private.require_users(p_ids uuid[], p_users text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_same_length(cardinality(p_ids), cardinality(p_users));
    if exists (
        select from unnest(p_ids, p_users) as a (id, user_id)
        where a.id is null or coalesce(length(a.user_id), 0) not between 1 and 200
    ) then
        raise exception using errcode = 'LWP02', message = 'a session has no id, or no user of 1 to 200 characters',
            hint = 'nothing was opened';
    end if;
end $$;
