-- name: store_fetches
-- Ends refreshes: stores, learns, finishes and settles in one transaction; answers per job.
select job_id, state, outcome, reason from livewell.store_fetches($1::text::jsonb)

-- name: fetch_conditions
-- What conditional requests for items may say.
select item_id, etag, last_modified from livewell.fetch_conditions($1)

-- name: check_storage
-- Whether the table of a type can take what its model brings.
select severity, problem, message, fix from livewell.check_storage($1, $2::text::jsonb)

-- name: read_items
-- What is stored of keys, how old it is, and why; a time without an end is none the driver could carry.
select key, value::text as value, case when isfinite(fetched_at) then fetched_at end as fetched_at, age, is_stale, viewers, why
from livewell.read_items($1, $2, coalesce($3, clock_timestamp()))

-- name: rehearse_fetches
-- What storing would make of refreshes; nothing is stored.
select key, outcome, reason, message from livewell.rehearse_fetches($1::text::jsonb)

-- name: watched_items
-- The items of keys of a type that somebody looks at.
select item_id, key from livewell.viewers where data_type = $1 and key = any ($2)

-- name: named_items
-- Of which type and key items are, as long as somebody looks at them.
select item_id, data_type, key from livewell.viewers where item_id = any ($1)

-- name: notices_are_quiet
-- Whether nothing is notified now.
select livewell.notices_are_quiet()

-- name: store_puts
-- Stores what was put; answers per key.
select key, outcome, reason from livewell.store_puts($1, $2::text::jsonb)

-- name: changed
-- The application says what it wrote.
select key, outcome from livewell.changed($1, $2)

-- name: table_columns
-- The columns of a type's table as to_jsonb shows them, and whether a key has one row.
select c.columns, exists (
        select from pg_catalog.pg_index as i
        join pg_catalog.pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] and a.attname = $3
        where i.indrelid = r.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1
    ) as one_row
from pg_catalog.pg_class as r
join pg_catalog.pg_namespace as n on n.oid = r.relnamespace and n.nspname = $1
cross join lateral (
    select jsonb_agg(jsonb_build_object(
        'name', a.attname, 'not_null', a.attnotnull, 'composite', coalesce(e.typtype, t.typtype) = 'c',
        'type', pg_catalog.format_type(case when t.typtype = 'd' then t.typbasetype else t.oid end, null)) order by a.attnum)::text as columns
    from pg_catalog.pg_attribute as a
    join pg_catalog.pg_type as t on t.oid = a.atttypid
    left join pg_catalog.pg_type as e on e.oid = t.typelem and t.typcategory = 'A'
    where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
) as c
where r.relname = $2
