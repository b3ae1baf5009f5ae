-- name: apply_types
-- Makes data types as declared, or says what that would change.
select thing, name, change, field, old::text, new::text from livewell.apply_types($1::text::jsonb, $2, $3)

-- name: change_types
-- Writes data types as declared, whether or not they can be live so.
select thing, name, change, field, old::text, new::text from livewell.change_types($1::text::jsonb, false, null, $2)

-- name: check_declared
-- Finds what would be wrong with data types as declared.
select data_type, severity, problem, message, fix from livewell.findings_on_asked($1::text::jsonb)

-- name: set_type
-- Tunes a data type.
select livewell.set_type($1, $2::text::jsonb, $3, $4)

-- name: remove_type
-- Takes a data type out, and answers what stood on it.
select livewell.remove_type($1, $2, $3, $4)::text

-- name: list_types
-- All data types, or the named ones.
select
    name, description, endpoint, queue_group, table_name, key_column, time_column, ttl_column, ttl, staleness, gate, strategy, cron,
    time_zone, priority_floor, expected_bytes, source_time_column, source_rule, model, keys_per_request, value_rule,
    key_pattern, keys_table, keys_key_column, keys_active_column, keys_exchange_column, keys_only_known, enabled,
    fetch_call::text as fetch_call, fields::text as fields, extra, read_rule, read_claim, read_equals, read_function, read_claims, created_at, updated_at
from livewell.data_types where $1::text[] is null or name = any ($1) order by name

-- name: check_types
-- What keeps types from being kept fresh, with its fix.
select data_type, severity, problem, message, fix from livewell.check_types($1)

-- name: list_keys
-- A page of a type's catalogue.
select key, active, exchange from livewell.list_keys($1, $2, $3)

-- name: strange_keys
-- The positions of what are no keys of a type.
select position from livewell.strange_keys($1, $2, $3) as s (position)

-- name: import_keys
-- Adds keys to Livewell's catalogue of a type.
select added, changed from livewell.import_keys($1, $2, $3, $4)

-- name: set_keys_active
-- Enables or disables keys of Livewell's catalogue of a type.
select livewell.set_keys_active($1, $2, $3, $4, $5)

-- name: list_exchanges
-- Exchanges, and whether they are open.
select code, suffixes, known_from, known_until, refreshed_at, open, changes_at from livewell.exchanges order by code

-- name: exchanges_in_use
-- The exchanges whose sessions are asked for.
select code from livewell.exchanges_in_use() as e (code)

-- name: put_calendar
-- Writes the sessions of an exchange for a time.
select livewell.put_calendar($1, $2, $3, $4, $5)

-- name: miss_calendar
-- Warns that the sessions of an exchange could not be had.
select livewell.miss_calendar($1, $2)

-- name: set_exchange_rule
-- Says which exchange keys with a suffix belong to.
select livewell.set_exchange_rule($1, $2, $3, $4)
