-- Remembers who is looked at in this hour of the day: each day moves the level by three tenths, and the days between without a
-- viewer lowered it. What was not seen for a month is forgotten, so many rows a run.
-- for: internal
create or replace function livewell_private.task_viewing_hours(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_hour constant integer := extract(hour from p_now at time zone 'UTC');
    v_day constant integer := floor(extract(epoch from p_now) / 86400);
    v_seen bigint;
begin
    perform livewell_private.require_primary();
    insert into livewell_private.viewing_hour as h (hour, item_id, level, day)
    select v_hour, i.id, 0.3 * (i.viewers - i.uncounted), v_day
    from livewell_private.random_watched(livewell.setting_integer('freshness.figures_items')) as s
    join livewell_private.item as i on i.id = s.item_id and i.viewers > i.uncounted
    order by i.id
    on conflict (item_id, hour) do update
    set day = v_day, level = case
            when h.day = v_day then greatest(h.level, excluded.level)
            else h.level * power(0.7, greatest(1, v_day - h.day)) + excluded.level
        end;
    get diagnostics v_seen = row_count;
    delete from livewell_private.viewing_hour as h
    where h.ctid = any (array(select o.ctid from livewell_private.viewing_hour as o where o.hour = v_hour and o.day < v_day - 30 limit 10000));
    return jsonb_build_object('seen', v_seen);
end $$;
