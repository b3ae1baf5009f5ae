-- The scheduled refreshes' task: begins walks that are due, and takes so many keys of those under way, shared between types.
-- A type that cannot be walked is warned about and keeps its place; the others go on.
-- for: internal
create or replace function livewell_private.task_scheduled_refreshes(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_left integer := livewell.setting_integer('freshness.scheduled_keys');
    v_type text;
    v_types text[];
    v_headroom integer;
    v_slice record;
    v_walked integer := 0;
    v_queued integer := 0;
begin
    perform livewell_private.require_primary();
    perform livewell_private.begin_walks(p_now);
    v_types := array(select r.data_type from livewell_private.scheduled_headroom(null, p_now) as r);
    for v_at in 1..coalesce(cardinality(v_types), 0) loop
        v_type := v_types[v_at];
        -- Asked again, because types share endpoints.
        select r.refreshes into v_headroom from livewell_private.scheduled_headroom(v_type, p_now) as r;
        continue when not found;
        begin
            select w.* into v_slice
            from livewell_private.walk_keys(
                v_type, least(v_headroom, ceil(v_left::numeric / (cardinality(v_types) - v_at + 1))::integer), p_now
            ) as w;
            v_walked := v_walked + v_slice.walked;
            v_queued := v_queued + v_slice.queued;
            v_left := v_left - v_slice.walked;
        exception when others then
            perform livewell_private.warn('freshness.walk_failed', v_type, format('%s: %s', sqlstate, sqlerrm), p_now);
            update livewell_private.scheduled_walk as w set sliced_at = p_now where w.data_type = v_type;
        end;
        exit when v_left <= 0;
    end loop;
    return jsonb_build_object('walked', v_walked, 'queued', v_queued);
end $$;
