-- Writes types as they shall be; a trigger makes the kind of their refreshes known and lets what is watched be looked at again.
-- for: internal
create or replace function livewell_private.put_types(p_types livewell_private.data_type[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    insert into livewell_private.data_type as t
    select n.* from unnest(p_types) as n
    order by n.name
    on conflict (name) do update set
        description = excluded.description, endpoint = excluded.endpoint, queue_group = excluded.queue_group,
        table_name = excluded.table_name, key_column = excluded.key_column, time_column = excluded.time_column,
        ttl_column = excluded.ttl_column, ttl = excluded.ttl, staleness = excluded.staleness, gate = excluded.gate,
        strategy = excluded.strategy, cron = excluded.cron, time_zone = excluded.time_zone,
        priority_floor = excluded.priority_floor, expected_bytes = excluded.expected_bytes,
        source_time_column = excluded.source_time_column, source_rule = excluded.source_rule, model = excluded.model,
        keys_per_request = excluded.keys_per_request, value_rule = excluded.value_rule, key_pattern = excluded.key_pattern,
        keys_table = excluded.keys_table, keys_key_column = excluded.keys_key_column,
        keys_active_column = excluded.keys_active_column, keys_exchange_column = excluded.keys_exchange_column,
        enabled = excluded.enabled, fetch_call = excluded.fetch_call, fields = excluded.fields, extra = excluded.extra,
        read_rule = excluded.read_rule, keys_only_known = excluded.keys_only_known, updated_at = p_now
    where t.* is distinct from excluded.*;
end $$;
