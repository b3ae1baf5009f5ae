-- Samples who looks at what into the hour's figures, and forgets old hours. This is all the analysis of subscriptions there
-- is, and none of it is done while somebody subscribes.
-- for: internal
create or replace function livewell_private.task_presence_hours(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_types integer;
    v_gone integer;
begin
    insert into livewell_private.subscription_hour as h (
        hour, data_type, samples, items_sum, items_max, viewers_sum, viewers_max, subscriptions_sum, subscriptions_max
    )
    select date_trunc('hour', p_now, 'UTC'), t.data_type, 1, t.items, t.items, t.viewers, t.viewers, t.subscriptions, t.subscriptions
    from (
        select
            i.data_type, count(distinct v.item_id) as items, count(distinct v.user_id) as viewers, sum(v.sessions) as subscriptions
        from livewell_private.viewer as v join livewell_private.item as i on i.id = v.item_id
        where v.sessions > 0
        group by i.data_type
    ) as t
    on conflict (hour, data_type) do update set
        samples = h.samples + 1,
        items_sum = h.items_sum + excluded.items_sum, items_max = greatest(h.items_max, excluded.items_max),
        viewers_sum = h.viewers_sum + excluded.viewers_sum, viewers_max = greatest(h.viewers_max, excluded.viewers_max),
        subscriptions_sum = h.subscriptions_sum + excluded.subscriptions_sum,
        subscriptions_max = greatest(h.subscriptions_max, excluded.subscriptions_max);
    get diagnostics v_types = row_count;
    delete from livewell_private.subscription_hour as h where h.hour < p_now - livewell.setting_interval('presence.hours_retention');
    get diagnostics v_gone = row_count;
    return jsonb_build_object('types', v_types, 'forgotten', v_gone);
end $$;
