-- Counts viewers anew and repairs what had drifted, a thousand a run; there should be nothing, so whatever it finds is warned
-- about. One snapshot shows all drift without a lock; only what drifted is locked, in everybody's order. Forgets who looks at
-- an item no longer; asks to be run again at once while there is more.
-- for: internal
create or replace function livewell_private.task_presence_recount(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_most constant integer := 1000;
    v_forget constant integer := 20000;
    v_orphans integer;
    v_items bigint[];
    v_users text[];
    v_pairs integer;
    v_drifted integer;
    v_forgotten integer;
begin
    delete from livewell_private.subscription as o
    using (
        select c.session_id, c.item_id from livewell_private.subscription as c
        where not exists (select from livewell_private.session as s where s.id = c.session_id)
            or not exists (select from livewell_private.item as i where i.id = c.item_id)
        for update skip locked
    ) as c
    where o.session_id = c.session_id and o.item_id = c.item_id;
    get diagnostics v_orphans = row_count;
    select array_agg(d.item_id), array_agg(d.user_id) into v_items, v_users
    from (
        select coalesce(c.item_id, v.item_id) as item_id, coalesce(c.user_id, v.user_id) as user_id
        from (
            select c.item_id, s.user_id, count(*) as sessions
            from livewell_private.subscription as c join livewell_private.session as s on s.id = c.session_id
            group by c.item_id, s.user_id
        ) as c
        full join (select v.* from livewell_private.viewer as v where v.sessions > 0) as v on v.item_id = c.item_id and v.user_id = c.user_id
        where c.sessions is distinct from v.sessions
        limit v_most
    ) as d;
    v_pairs := coalesce(cardinality(v_items), 0);
    if v_pairs > 0 then
        perform livewell_private.recount_sessions(v_items, v_users, p_now);
    end if;
    v_drifted := livewell_private.recount_items(v_most, p_now);
    delete from livewell_private.viewer as v
    using (select o.item_id, o.user_id from livewell_private.viewer as o where o.sessions = 0 limit v_forget for update skip locked) as o
    where v.item_id = o.item_id and v.user_id = o.user_id;
    get diagnostics v_forgotten = row_count;
    if v_orphans + v_pairs + v_drifted > 0 then
        perform livewell_private.warn('presence.viewers_drifted', '', format(
            'counted anew: %s items, %s users at items, %s subscriptions without a session or item', v_drifted, v_pairs, v_orphans
        ), p_now);
    end if;
    return jsonb_build_object(
        'items_repaired', v_drifted, 'pairs_repaired', v_pairs, 'orphans_removed', v_orphans, 'forgotten', v_forgotten,
        'again_in', case when v_pairs >= v_most or v_drifted >= v_most or v_forgotten >= v_forget then '0 seconds' end
    );
end $$;
