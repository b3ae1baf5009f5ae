-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.declared_change as (thing text, name text, change text, fields text[], old jsonb, new jsonb);
