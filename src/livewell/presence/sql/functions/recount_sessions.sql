-- Sets how many sessions of a user look at an item, for some pairs, to what their subscriptions say. The rows are taken in
-- everybody's order first, under the locks of their items, but for those that somebody else has in an open transaction; whoever changes them at this moment is counted then, or adds to it afterwards.
-- for: internal
create or replace function livewell_private.recount_sessions(p_item_ids bigint[], p_users text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_busy constant bigint[] := livewell_private.lock_items(p_item_ids, p_now);
begin
    insert into livewell_private.viewer as v (item_id, user_id, sessions)
    select a.item_id, a.user_id, 0 from unnest(p_item_ids, p_users) as a (item_id, user_id) where a.item_id <> all (v_busy)
    order by a.item_id, a.user_id
    on conflict (item_id, user_id) do update set sessions = v.sessions;
    update livewell_private.viewer as v set sessions = (
        select count(*) from livewell_private.session as s join livewell_private.subscription as c on c.session_id = s.id and c.item_id = v.item_id
        where s.user_id = v.user_id
    )
    from unnest(p_item_ids, p_users) as a (item_id, user_id)
    where v.item_id = a.item_id and v.user_id = a.user_id and a.item_id <> all (v_busy);
end $$;
