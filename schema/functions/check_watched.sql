-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.check_watched(p_item_ids bigint[], p_users text[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_items bigint[];
    v_askers text[];
begin
    select array_agg(i.id order by a.at), array_agg(livewell.asker_of(a.user_id) order by a.at) into v_items, v_askers
    from unnest(p_item_ids, p_users) with ordinality as a (item_id, user_id, at)
    join livewell.item as i on i.id = a.item_id
    where i.expires_at is null or i.expires_at <= p_now;
    if v_items is not null then
        perform livewell.check_items(v_items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', p_now, v_askers);
    end if;
exception
    when transaction_rollback then
        raise;
    when others then
        perform livewell.warn('presence.check_failed', '', format('%s: %s', sqlstate, sqlerrm), p_now);
end $function$;
