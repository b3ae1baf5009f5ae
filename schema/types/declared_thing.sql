-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.declared_thing as (thing text, table_name regclass, errcode text, kept text[], defaults jsonb);
