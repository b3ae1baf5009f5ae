-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.change_viewers(p_item_ids bigint[], p_by integer[], p_now timestamp with time zone, p_uncounted integer[] DEFAULT NULL::integer[], p_asked bigint[] DEFAULT NULL::bigint[], p_askers text[] DEFAULT NULL::text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    -- Its type was removed while the caller waited: a viewer of nothing must not stay behind.
    if exists (
        select from unnest(p_item_ids, p_by) as c (id, by)
        where c.by > 0 and not exists (select from livewell.item as i where i.id = c.id)
    ) then
        raise exception using errcode = 'LWF01', message = 'the data type of an item was removed', hint = 'livewell types list';
    end if;
    update livewell.item as i
    set viewers = i.viewers + c.by,
        uncounted = greatest(0, least(i.uncounted + c.uncounted, i.viewers + c.by)),
        watched_since = case when i.viewers + c.by = 0 then null when i.viewers = 0 then p_now else i.watched_since end,
        due_at = case
            when i.viewers = 0 and c.by > 0 and not (i.failed_refreshes > 0 and i.decision is not distinct from 'refresh_failed')
                then least(i.due_at, p_now)
            else i.due_at
        end,
        viewers_average = case when i.averaged_at is null then 0
            else i.viewers - i.uncounted + (i.viewers_average - (i.viewers - i.uncounted)) * power(
                0.5::double precision,
                greatest(0, extract(epoch from p_now - i.averaged_at)::double precision) / livewell.viewers_half_life()
            )
        end,
        averaged_at = greatest(p_now, i.averaged_at)
    from (
        select c.id, sum(c.by)::integer as by, coalesce(sum(c.uncounted), 0)::integer as uncounted
        from unnest(p_item_ids, p_by, p_uncounted) as c (id, by, uncounted)
        group by c.id having sum(c.by) <> 0 or sum(c.uncounted) <> 0
    ) as c
    where i.id = c.id;
    if 0 > any (p_by) then
        perform livewell.let_refreshes_go(p_item_ids, p_now);
    end if;
    if p_asked is not null then
        begin
            perform livewell.check_items(
                a.items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', p_now, a.askers
            )
            from (
                select array_agg(i.id order by a.at) as items, array_agg(a.asker order by a.at) as askers
                from unnest(p_asked, p_askers) with ordinality as a (item_id, asker, at)
                join livewell.item as i on i.id = a.item_id
                where i.expires_at is null or i.expires_at <= p_now
            ) as a
            where a.items is not null;
        exception
            when transaction_rollback then
                raise;
            when others then
                perform livewell.warn('freshness.check_failed', '', format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end if;
end $function$;
