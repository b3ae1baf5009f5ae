-- Adds the fetches of each type since they were last counted, and how many had changed, to the figures of this hour.
-- for: internal
create or replace function livewell_private.take_fetches(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with grown as (
        select l.data_type, l.fetches, l.changes, greatest(0, l.fetches - coalesce(t.fetches, 0))::bigint as fetched,
            greatest(0, l.changes - coalesce(t.changes, 0))::bigint as changed
        from livewell_private.type_learning as l
        left join livewell_private.figures_taken as t on t.data_type = l.data_type
        where t.data_type is null or l.fetches <> t.fetches
    ),
    taken as (
        insert into livewell_private.figures_taken as t (data_type, fetches, changes)
        select g.data_type, g.fetches, g.changes from grown as g
        on conflict (data_type) do update set fetches = excluded.fetches, changes = excluded.changes
    )
    insert into livewell_private.freshness_hour as h (hour, data_type, audience, fetches, changes)
    select date_trunc('hour', p_now, 'UTC'), g.data_type, 'all', g.fetched, least(g.fetched, g.changed) from grown as g
    on conflict (hour, data_type, audience) do update
    set fetches = h.fetches + excluded.fetches, changes = h.changes + excluded.changes;
end $$;
