-- What stands on a type: refreshes that wait or run, items, records in Livewell's own table, and keys of its catalogue.
-- for: internal
create or replace function livewell_private.use_of_type(p_name text) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select jsonb_build_object(
        'refreshes', (select count(*) from livewell_private.job_live as j where j.kind = 'refresh.' || p_name),
        'items', (select count(*) from livewell_private.item as i where i.data_type = p_name),
        'records', (select count(*) from livewell_private.record as r where r.data_type = p_name),
        'keys', (select count(*) from livewell_private.type_key as k where k.data_type = p_name)
    )
$$;
