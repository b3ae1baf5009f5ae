-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ring_with(p_ring integer[], p_last_slot bigint, p_slot bigint, p_amount bigint)
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE
RETURN CASE WHEN (p_last_slot >= p_slot) THEN ((p_ring)[:(cardinality(p_ring) - 1)] || (((p_ring)[cardinality(p_ring)] + p_amount))::integer) ELSE (((p_ring)[(LEAST((cardinality(p_ring))::bigint, (p_slot - p_last_slot)) + 1):] || array_fill(0, ARRAY[((LEAST((cardinality(p_ring))::bigint, (p_slot - p_last_slot)))::integer - 1)])) || (p_amount)::integer) END;
