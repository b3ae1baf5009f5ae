-- Says what storing would make of refreshes, and stores nothing: it does all of it and takes it back. Their jobs, tokens and items
-- need not be there. What triggers did inside the database is taken back too; only sequences have moved on.
-- for: service
create or replace function livewell.rehearse_fetches(p_ended jsonb, p_now timestamptz default clock_timestamp())
returns table (key text, outcome text, reason text, message text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_ended livewell_private.ended_fetch[];
    v_judged livewell_private.fetch_verdict[];
begin
    perform livewell_private.require_primary();
    -- Of no item, so that it makes no difference which one has such a number.
    v_ended := array(select jsonb_populate_record(e, '{"item": -1}') from unnest(livewell_private.read_fetches(p_ended)) as e);
    perform livewell_private.require_type(e.type) from unnest(v_ended) as e;
    begin
        v_judged := livewell_private.store_by_type(v_ended, p_now);
        raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
    exception when raise_exception then
        -- Another's word than ours would have come before the verdicts.
        if v_judged is null and v_ended <> '{}' then
            raise;
        end if;
    end;
    return query
    select e.key, v.outcome, v.reason, v.message
    from unnest(v_ended) as e join unnest(v_judged) as v on v.job = e.job
    order by e.job;
end $$;
