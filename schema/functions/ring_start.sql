-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ring_start(p_ring integer[], p_last_slot bigint, p_slot bigint, p_slots integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN ((((cardinality(p_ring) + 1) - p_slots) + GREATEST((0)::bigint, LEAST((cardinality(p_ring))::bigint, (p_slot - p_last_slot)))))::integer;
