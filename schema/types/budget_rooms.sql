-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.budget_rooms as (names text[], kinds text[], requests bigint[], tokens bigint[], opens timestamp with time zone[], spent_requests bigint[], spent_tokens bigint[], providers text[], bytes bigint[], low boolean[], spent_bytes bigint[], spacing double precision[], probing boolean[], allowed bigint[], used bigint[], counted bigint[], buckets double precision[], returned bigint[], levels integer[], reasons text[]);
