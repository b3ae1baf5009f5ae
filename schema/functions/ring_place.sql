-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ring_place(p_ring integer[], p_last_slot bigint, p_slot bigint)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN (GREATEST((1)::bigint, ((cardinality(p_ring) - p_last_slot) + p_slot)))::integer;
