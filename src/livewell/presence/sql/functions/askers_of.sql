-- In whose name refreshes that users ask for wait, by position: the user's own, but all anonymous users share one.
-- for: internal
create or replace function livewell_private.askers_of(p_users text[]) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select array(
        select case when livewell_private.is_anonymous(u.user_id) then 'anon:' else u.user_id end
        from unnest(p_users) with ordinality as u (user_id, at) order by u.at
    )
$$;
