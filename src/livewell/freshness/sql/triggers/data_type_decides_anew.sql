-- At the commit, so that a plan, which writes types and takes them back, neither waits for an item nor writes one.
create constraint trigger data_type_decides_anew
after update on livewell_private.data_type
deferrable initially deferred
for each row when ((
    new.ttl, new.staleness, new.gate, new.table_name, new.key_column, new.time_column, new.ttl_column, new.enabled, new.endpoint,
    new.fetch_call, new.fields, new.extra, new.model, new.source_rule, new.source_time_column
) is distinct from (
    old.ttl, old.staleness, old.gate, old.table_name, old.key_column, old.time_column, old.ttl_column, old.enabled, old.endpoint,
    old.fetch_call, old.fields, old.extra, old.model, old.source_rule, old.source_time_column
))
execute function livewell_private.watched_are_due();
