-- Data types with everything that can be set.
-- for: service, user
create view livewell.data_types as
select
    t.name, t.description, t.endpoint, t.queue_group, t.table_name, t.key_column, t.time_column, t.ttl_column, t.ttl, t.staleness,
    t.gate, t.strategy, t.cron, t.time_zone, t.priority_floor, t.expected_bytes, t.source_time_column, t.source_rule, t.model,
    t.keys_per_request, t.value_rule, t.key_pattern, t.keys_table, t.keys_key_column, t.keys_active_column,
    t.keys_exchange_column, t.enabled, t.fetch_call, t.fields, t.extra, t.read_rule, t.created_at, t.updated_at, t.keys_only_known
from livewell.data_type as t;
