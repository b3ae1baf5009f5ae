-- The application says what it wrote into its own table: these keys have a new version, whoever looks at them is told at the commit, and
-- the next fetch asks without a condition. Answers key by key: changed; unknown (nobody ever looked at it); or busy, which somebody else
-- has in an open transaction: say it again, or the next fetch that brings an answer finds it.
-- for: service
create or replace function livewell.changed(p_type text, p_keys text[], p_now timestamptz default clock_timestamp())
returns table (key text, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_changed record;
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_type(p_type);
    select array_agg(c.key) as keys, array_agg(c.item_id) as items, array_agg(c.outcome) as outcomes into v_changed
    from livewell_private.change_items(p_type, p_keys, p_now) as c;
    delete from livewell_private.fetch_state as s
    where s.item_id in (select c.item_id from unnest(v_changed.items, v_changed.outcomes) as c (item_id, outcome) where c.outcome = 'changed');
    return query select c.key, c.outcome from unnest(v_changed.keys, v_changed.outcomes) as c (key, outcome);
end $$;
