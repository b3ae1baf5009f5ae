-- What people declare, and what a declaration changes of it; the same for every room.

-- What plans call a thing, its table, the code of its refusals, the columns that nobody declares, and a row as the table's
-- defaults make it.
create type livewell_private.declared_thing as (thing text, table_name regclass, errcode text, kept text[], defaults jsonb);

-- One thing added, changed or the same; for which fields, what it was and what it would be. What is new differs from the defaults.
create type livewell_private.declared_change as (thing text, name text, change text, fields text[], old jsonb, new jsonb);
