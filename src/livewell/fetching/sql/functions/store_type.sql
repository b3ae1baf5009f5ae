-- Stores the refreshes of one type that brought rows, and moves the time of all rows of every key that was fetched or is unchanged:
-- whatever was looked at now is not stale before its TTL. Answers with a verdict on each. An answer "unchanged" about what is not
-- stored here is refused: the next request asks without a condition. Keys whose rows somebody else has are set aside.
-- for: internal
create or replace function livewell_private.store_type(p_type livewell_private.data_type, p_ended livewell_private.ended_fetch[], p_now timestamptz)
returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_fetched constant livewell_private.ended_fetch[] := array(select e from unnest(p_ended) as e where e.outcome = 'fetched');
    v_unchanged constant boolean := cardinality(v_fetched) < cardinality(p_ended);
    v_storing livewell_private.storing;
    v_many boolean := false;
    v_verdicts livewell_private.fetch_verdict[];
    v_keys text[];
    v_busy text[];
begin
    if p_type.table_name is not null then
        v_storing := livewell_private.storing_of(p_type, livewell_private.rows_columns(v_fetched));
        if v_storing.problem is not null then
            return livewell_private.refuse_fetches(p_ended, 'table', v_storing.problem);
        end if;
        v_many := cardinality(v_storing.row_key) > 1;
        if v_many or v_unchanged then
            v_busy := livewell_private.lock_keys(v_storing, array(select e.key from unnest(p_ended) as e));
            if v_busy <> '{}' then
                v_verdicts := livewell_private.set_fetches_aside(p_type, array(select e from unnest(p_ended) as e where e.key = any (v_busy)), p_now);
                return v_verdicts || case when cardinality(v_verdicts) < cardinality(p_ended) then livewell_private.store_type(
                    p_type, array(select e from unnest(p_ended) as e where e.key <> all (v_busy)), p_now
                ) end;
            end if;
        end if;
    end if;
    if v_fetched <> '{}' then
        v_verdicts := case when p_type.table_name is null then livewell_private.store_records(p_type, v_fetched, p_now)
            else livewell_private.store_rows(v_storing, v_fetched, p_now) end;
    end if;
    -- What was written now has its time; the other rows of its key, and what was not written, have not.
    v_keys := array(
        select e.key from unnest(p_ended) as e left join unnest(v_verdicts) as v on v.job = e.job
        where e.outcome = 'unchanged' or v.reason = 'same_source_time' or v_many and v.outcome in ('fetched', 'unchanged')
    );
    if v_keys <> '{}' then
        v_keys := case when p_type.table_name is null then livewell_private.touch_records(p_type.name, v_keys, p_now)
            else livewell_private.touch_keys(v_storing, v_keys, p_now) end;
    end if;
    if v_unchanged then
        v_verdicts := v_verdicts || livewell_private.judge_unchanged(p_ended, v_keys);
    end if;
    return v_verdicts;
end $$;
