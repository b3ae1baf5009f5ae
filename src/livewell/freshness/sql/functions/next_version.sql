-- The version of new content: greater than the one before, and not below the microseconds of the database's clock, so that none is
-- used again after a backup was put back. The caller has locked the item.
-- for: internal
create or replace function livewell_private.next_version(p_version bigint) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp as $$
begin
    return greatest(p_version + 1, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint);
end $$;
