-- The verdict on refreshes whose rows somebody else has in an open transaction: busy, noted with who that is.
-- for: internal
create or replace function livewell_private.set_fetches_aside(p_type livewell_private.data_type, p_ended livewell_private.ended_fetch[], p_now timestamptz)
returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_keys constant text[] := array(select e.key from unnest(p_ended) as e);
    v_holder text;
begin
    v_holder := livewell_private.note_locked_rows(
        'fetching.row_held', p_type.name, livewell_private.find_relation(p_type.table_name)::regclass, v_keys, v_keys, null, p_now
    );
    return array(select row (e.job, 'busy', 'row_held: ' || v_holder, null)::livewell_private.fetch_verdict from unnest(p_ended) as e);
end $$;
