-- Where a slot is in a ring, the first place if it is older than all of them.
-- for: internal
create or replace function livewell_private.ring_place(p_ring integer[], p_last_slot bigint, p_slot bigint) returns integer
language sql immutable
return greatest(1, cardinality(p_ring) - p_last_slot + p_slot)::integer;
