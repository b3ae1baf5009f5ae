-- Who looks at what has changed: adds to the viewers of items, which the caller has locked, and folds how many there were into their slow
-- average: those that count for its rank, as many as are said to be uncounted less. An item with its first viewer is due at once, unless
-- it waits because its refresh failed; the refresh of one whose last has left is let go. Items that somebody asks for just now are
-- checked at once, unless they are known to be fresh, so that who comes does not wait for the next tick; who is to dwell first only makes
-- them due when that time is over. A check that fails is warned about and ends no subscription; a deadlock is the whole call's, to be tried again.
-- for: internal
create or replace function livewell_private.change_viewers(
    p_item_ids bigint[], p_by integer[], p_now timestamptz, p_uncounted integer[] default null, p_asked bigint[] default null,
    p_askers text[] default null, p_dwell interval default '0'
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_changed integer;
begin
    update livewell_private.item as i
    set viewers = i.viewers + c.by,
        uncounted = greatest(0, least(i.uncounted + c.uncounted, i.viewers + c.by)),
        watched_since = case when i.viewers + c.by = 0 then null when i.viewers = 0 then p_now else i.watched_since end,
        due_at = case
            when i.viewers = 0 and c.by > 0 and not (i.failed_refreshes > 0 and i.decision is not distinct from 'refresh_failed')
                then case when p_dwell > interval '0' then p_now + p_dwell else least(i.due_at, p_now) end
            else i.due_at
        end,
        viewers_average = case when i.averaged_at is null then 0
            else i.viewers - i.uncounted + (i.viewers_average - (i.viewers - i.uncounted)) * power(
                0.5::double precision,
                greatest(0, extract(epoch from p_now - i.averaged_at)::double precision) / livewell_private.viewers_half_life()
            )
        end,
        averaged_at = greatest(p_now, i.averaged_at)
    from (
        select c.id, sum(c.by)::integer as by, coalesce(sum(c.uncounted), 0)::integer as uncounted
        from unnest(p_item_ids, p_by, p_uncounted) as c (id, by, uncounted)
        group by c.id having sum(c.by) <> 0 or sum(c.uncounted) <> 0
    ) as c
    where i.id = c.id;
    get diagnostics v_changed = row_count;
    -- Its type was removed while the caller waited: a viewer of nothing must not stay behind.
    if v_changed < cardinality(p_item_ids) and exists (
        select from unnest(p_item_ids, p_by) as c (id, by)
        where c.by > 0 and not exists (select from livewell_private.item as i where i.id = c.id)
    ) then
        raise exception using errcode = 'LWF01', message = 'the data type of an item was removed', hint = 'livewell types list';
    end if;
    if 0 > any (p_by) then
        perform livewell_private.let_refreshes_go(p_item_ids, p_now);
    end if;
    if p_asked is not null and p_dwell = interval '0' then
        begin
            perform livewell_private.check_items(
                a.items, livewell.setting_integer('priority.on_subscribe')::integer, 'subscribe', p_now, a.askers
            )
            from (
                select array_agg(i.id order by a.at) as items, array_agg(a.asker order by a.at) as askers
                from unnest(p_asked, p_askers) with ordinality as a (item_id, asker, at)
                join livewell_private.item as i on i.id = a.item_id
                where i.expires_at is null or i.expires_at <= p_now
            ) as a
            where a.items is not null;
        exception
            when transaction_rollback then
                raise;
            when others then
                perform livewell_private.warn('freshness.check_failed', '', format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end if;
end $$;
