-- Stores the rows of some refreshes of one type in its table, and answers with a verdict on each. What the database refuses for its
-- value is halved until the one refresh is alone that has it; the others are stored. One whose rows somebody else has for longer than
-- a moment is set aside, found by its rows, or by halving where they are not there yet. A table that is wrong as a whole refuses all.
-- Whatever else goes wrong (a deadlock, a disk that is full) is the caller's.
-- for: internal
create or replace function livewell_private.store_rows(
    p_storing livewell_private.storing, p_ended livewell_private.ended_fetch[], p_now timestamptz, p_patience integer default 250
) returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
declare
    v_half constant integer := cardinality(p_ended) / 2;
    v_volatile constant text[] := array(select distinct v.name from unnest(p_ended) as e cross join lateral unnest(e.volatile) as v (name));
    v_jobs bigint[];
    v_reasons text[];
    v_reason text;
    v_message text;
    v_busy text[];
    v_patience integer;
begin
    if p_patience < 250 then
        perform set_config('lock_timeout', p_patience::text, true);
    end if;
    begin
        perform livewell_private.require_foreign('store_foreign_rows');
        select s.jobs, s.reasons into v_jobs, v_reasons
        from (
            select array_agg(e.job) as jobs, array_agg(e.key) as keys, array_agg(e.rows) as rows, array_agg(e.source_time) as source_times
            from unnest(p_ended) as e
        ) as e
        cross join lateral livewell_private.store_foreign_rows(
            livewell_private.storing_query(p_storing, v_volatile), p_now, e.jobs, e.keys, e.rows, e.source_times
        ) as s;
        return livewell_private.judge_stored(p_ended, v_jobs, v_reasons);
    exception
        when data_exception or integrity_constraint_violation or cardinality_violation or raise_exception
            or with_check_option_violation then
            v_message := sqlerrm;
            v_reason := case when sqlstate = '21000' then 'duplicate_rows' when sqlstate like '22%' then 'value' else 'constraint' end;
        when lock_not_available then
            v_busy := livewell_private.lock_free_keys(p_storing, array(select e.key from unnest(p_ended) as e));
        when syntax_error_or_access_rule_violation or feature_not_supported then
            return livewell_private.refuse_fetches(p_ended, 'table', sqlerrm);
    end;
    if v_busy <> '{}' or v_busy is not null and v_half = 0 then
        return livewell_private.store_free_rows(p_storing, p_ended, v_busy, p_now);
    elsif v_half = 0 then
        return livewell_private.refuse_fetches(p_ended, v_reason, v_message);
    end if;
    -- Half as patient each time, so that however many are held, all of them together cost a few moments.
    v_patience := case when v_busy is null then p_patience else greatest(1, p_patience / 2) end;
    return livewell_private.store_rows(p_storing, p_ended[:v_half], p_now, v_patience)
        || livewell_private.store_rows(p_storing, p_ended[v_half + 1:], p_now, v_patience);
end $$;
