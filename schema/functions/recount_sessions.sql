-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.recount_sessions(p_item_ids bigint[], p_users text[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_busy constant bigint[] := livewell.lock_items(p_item_ids, p_now);
begin
    insert into livewell.viewer as v (item_id, user_id, sessions)
    select a.item_id, a.user_id, 0 from unnest(p_item_ids, p_users) as a (item_id, user_id) where a.item_id <> all (v_busy)
    order by a.item_id, a.user_id
    on conflict (item_id, user_id) do update set sessions = v.sessions;
    update livewell.viewer as v set sessions = (
        select count(*) from livewell.session as s join livewell.subscription as c on c.session_id = s.id and c.item_id = v.item_id
        where s.user_id = v.user_id
    )
    from unnest(p_item_ids, p_users) as a (item_id, user_id)
    where v.item_id = a.item_id and v.user_id = a.user_id and a.item_id <> all (v_busy);
end $function$;
