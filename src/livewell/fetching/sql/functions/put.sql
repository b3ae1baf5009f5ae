-- Puts rows of a type, for providers that push and for what the application knows: a list of rows that name their keys (by the key
-- column, or the key of the declared fetch), or an object of keys, each with its row or list of rows. A row has its fields as they are
-- stored, and must fit the declared ones, if there are any; bad ones are refused alone. Stored as store_puts does.
-- for: service
create or replace function livewell.put(p_type text, p_rows jsonb, p_now timestamptz default clock_timestamp())
returns table (key text, outcome text, reason text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(p_type);
    return query
    select s.key, s.outcome, s.reason from livewell.store_puts(p_type, livewell_private.puts_of(p_type, p_rows, p_now), p_now) as s;
end $$;
