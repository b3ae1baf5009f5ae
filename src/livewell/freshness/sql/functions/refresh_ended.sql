-- An item whose refresh failed for good or was cancelled is looked at again: not at once, or a source that is broken would be
-- asked without end.
-- for: internal
create or replace function livewell.refresh_ended() returns trigger
language plpgsql security definer
set search_path = '' as $$
begin
    update livewell.item as i
    set due_at = new.finished_at + greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')),
        last_outcome = new.state, last_outcome_at = new.finished_at
    from livewell.data_type as t
    where i.id = (new.payload ->> 'item')::bigint and t.name = i.data_type;
    return null;
end $$;
