-- Looks at items that just got a subscription, each with its user, unless they are known to be fresh, so that who comes does not wait for the
-- next tick. A check that fails is warned about and ends no subscription; a deadlock is the whole call's, to be tried again.
-- for: internal
create or replace function livewell_private.check_watched(p_item_ids bigint[], p_users text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_items bigint[];
    v_askers text[];
begin
    select array_agg(i.id order by a.at), array_agg(livewell_private.asker_of(a.user_id) order by a.at) into v_items, v_askers
    from unnest(p_item_ids, p_users) with ordinality as a (item_id, user_id, at)
    join livewell_private.item as i on i.id = a.item_id
    where i.expires_at is null or i.expires_at <= p_now;
    if v_items is not null then
        perform livewell_private.check_items(v_items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', p_now, v_askers);
    end if;
exception
    when transaction_rollback then
        raise;
    when others then
        perform livewell_private.warn('presence.check_failed', '', format('%s: %s', sqlstate, sqlerrm), p_now);
end $$;
