-- A ring with an amount more in a slot: in its last one if that is as new or newer, else turned on so that the slot is its last.
-- for: internal
create or replace function livewell_private.ring_with(p_ring integer[], p_last_slot bigint, p_slot bigint, p_amount bigint) returns integer[]
language sql immutable
return case
    when p_last_slot >= p_slot then p_ring[:cardinality(p_ring) - 1] || (p_ring[cardinality(p_ring)] + p_amount)::integer
    else p_ring[least(cardinality(p_ring), p_slot - p_last_slot) + 1:]
        || array_fill(0, array[least(cardinality(p_ring), p_slot - p_last_slot)::integer - 1]) || p_amount::integer
end;
