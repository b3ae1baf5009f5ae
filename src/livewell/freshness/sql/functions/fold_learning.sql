-- Adds what finishes have appended to what is known of each type, so that no two finishes wait for one row.
-- for: internal
create or replace function livewell_private.fold_learning() returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from livewell_private.learned) then
        return;
    end if;
    with taken as (
        delete from livewell_private.learned as l
        where l.ctid = any (array(select n.ctid from livewell_private.learned as n limit 10000 for update skip locked))
        returning l.*
    ),
    sums as (
        select t.data_type, sum(t.fetches) as fetches, sum(t.changes) as changes, sum(t.minutes_between) as minutes,
            sum(t.slope) as slope, sum(t.information) as information, sum(t.bytes) / nullif(sum(t.sizes), 0) as bytes, sum(t.sizes) as sizes,
            sum(t.unchanged_bytes) / nullif(sum(t.unchanged_sizes), 0) as unchanged_bytes, sum(t.unchanged_sizes) as unchanged_sizes,
            sum(t.new_keys) as new_keys, sum(t.new_found) as new_found, sum(t.refreshes) as refreshes, 60 / extract(epoch from d.ttl)::double precision as first_rate
        from taken as t join livewell_private.known_types as d on d.name = t.data_type
        group by t.data_type, d.ttl
    )
    insert into livewell_private.type_learning as y (
        data_type, fetches, changes, minutes_between, change_rate, rate_weight, bytes_mean, unchanged_bytes, new_keys, new_found, refreshes
    )
    select s.data_type, s.fetches, s.changes, s.minutes, n.change_rate, n.weight, n.bytes, n.unchanged_bytes,
        coalesce(o.new_keys, 0) * n.kept + s.new_keys, coalesce(o.new_found, 0) * n.kept + s.new_found, s.refreshes
    from sums as s
    left join livewell_private.type_learning as o on o.data_type = s.data_type
    cross join lateral (
        select least(coalesce(o.rate_weight, 5) + s.information, 1000) as weight,
            coalesce(o.bytes_mean + (1 - power(0.95, s.sizes)) * (s.bytes - o.bytes_mean), s.bytes, o.bytes_mean) as bytes,
            coalesce(o.unchanged_bytes + (1 - power(0.95, s.unchanged_sizes)) * (s.unchanged_bytes - o.unchanged_bytes), s.unchanged_bytes, o.unchanged_bytes)
                as unchanged_bytes
    ) as w
    cross join lateral (
        select w.weight, w.bytes, w.unchanged_bytes, power(0.98::double precision, s.new_keys) as kept, coalesce(o.change_rate, s.first_rate) * exp(greatest(-1, least(1,
            s.slope / (w.weight + 0.3 * abs(s.slope))
        ))) as change_rate
    ) as n
    order by s.data_type
    on conflict (data_type) do update
    set fetches = y.fetches + excluded.fetches, changes = y.changes + excluded.changes,
        minutes_between = y.minutes_between + excluded.minutes_between, change_rate = excluded.change_rate,
        rate_weight = excluded.rate_weight, bytes_mean = excluded.bytes_mean, unchanged_bytes = excluded.unchanged_bytes,
        new_keys = excluded.new_keys, new_found = excluded.new_found, refreshes = y.refreshes + excluded.refreshes;
end $$;
