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
