-- Makes what is watched of a type due when what decides on its freshness has changed.
-- for: internal
create or replace function livewell_private.watched_are_due() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.due_now(array[new.name], new.updated_at);
    return null;
end $$;
