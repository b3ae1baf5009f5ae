-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.seconds_counted(p_send_within interval)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN (61 + (ceil(EXTRACT(epoch FROM p_send_within)))::integer);
