-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Data types: for the service and the owner with everything that can be set; for users with what a client needs. How and where a
-- type is fetched and kept is null for them. The role that is asked for is who reads, not who owns the view; and nobody's function
-- is called with a row before that is asked.
-- for: service, user
create view livewell.data_types with (security_barrier = true) as
select
    t.name, t.description, w.endpoint, w.queue_group, w.table_name, w.key_column, w.time_column, w.ttl_column, t.ttl, w.staleness,
    w.gate, w.strategy, w.cron, w.time_zone, w.priority_floor, w.expected_bytes, w.source_time_column, w.source_rule, w.model,
    w.keys_per_request, w.value_rule, t.key_pattern, w.keys_table, w.keys_key_column, w.keys_active_column,
    w.keys_exchange_column, t.enabled, w.fetch_call, w.fields, w.extra, t.read_rule, t.created_at, t.updated_at, t.keys_only_known,
    t.read_claim, w.read_equals, w.read_function, t.read_claims
from livewell_private.data_type as t
left join livewell_private.data_type as w
    on w.name = t.name and (pg_has_role(current_user, 'livewell_service', 'usage') or pg_has_role(current_user, 'livewell_owner', 'usage'));

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
--   enabled boolean
--   fetch_call jsonb
--   fields jsonb
--   extra text
--   read_rule text
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
--   keys_only_known boolean
--   read_claim text
--   read_equals text
--   read_function text
--   read_claims text[]

grant select on table livewell.data_types to livewell_service;
grant select on table livewell.data_types to livewell_user;
