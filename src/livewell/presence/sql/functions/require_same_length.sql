-- Refuses arrays that do not go together by position.
-- for: internal
create or replace function livewell_private.require_same_length(variadic p_lengths integer[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if p_lengths[1] is null or p_lengths <> array_fill(p_lengths[1], array[cardinality(p_lengths)]) then
        raise exception using errcode = 'LWP02', message = 'the arrays of a batch are not of one length',
            hint = 'what belongs together has the same position';
    end if;
end $$;
