-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create type livewell_private.limit_headroom as (name text, kind text, provider text, requests bigint, tokens bigint, spacing double precision, starts_trial boolean, opens_at timestamp with time zone, reason text, used_share double precision);
