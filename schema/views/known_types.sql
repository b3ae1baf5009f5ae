-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Data types as the rooms above read them, in the functions that run at every tick: without the question who reads.
-- for: internal
create view livewell_private.known_types as
select
    t.name, t.description, t.endpoint, t.queue_group, t.table_name, t.key_column, t.time_column, t.ttl_column, t.ttl, t.staleness,
    t.gate, t.strategy, t.cron, t.time_zone, t.priority_floor, t.expected_bytes, t.source_time_column, t.source_rule, t.model,
    t.keys_per_request, t.value_rule, t.key_pattern, t.keys_table, t.keys_key_column, t.keys_active_column,
    t.keys_exchange_column, t.keys_only_known, t.fetch_call, t.fields, t.extra, t.read_rule, t.enabled, t.created_at, t.updated_at,
    t.read_claim, t.read_equals, t.read_function, t.read_claims
from livewell_private.data_type as t;

-- columns:
--   name text
--   description text
--   endpoint text
--   queue_group text
--   table_name text
--   key_column text
--   time_column text
--   ttl_column text
--   ttl interval
--   staleness text
--   gate text
--   strategy text
--   cron text
--   time_zone text
--   priority_floor integer
--   expected_bytes bigint
--   source_time_column text
--   source_rule text
--   model text
--   keys_per_request integer
--   value_rule text
--   key_pattern text
--   keys_table text
--   keys_key_column text
--   keys_active_column text
--   keys_exchange_column text
--   keys_only_known boolean
--   fetch_call jsonb
--   fields jsonb
--   extra text
--   read_rule text
--   enabled boolean
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
--   read_claim text
--   read_equals text
--   read_function text
--   read_claims text[]

