-- Where the newest so many slots of a ring begin, as of a slot that may lie after its last one. A ring holds its newest slot last.
-- for: internal
create or replace function livewell_private.ring_start(p_ring integer[], p_last_slot bigint, p_slot bigint, p_slots integer) returns integer
language sql immutable
return (cardinality(p_ring) + 1 - p_slots + greatest(0, least(cardinality(p_ring), p_slot - p_last_slot)))::integer;
