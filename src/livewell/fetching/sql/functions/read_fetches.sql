-- Reads a batch of ended refreshes, in the order of their jobs. Refuses the whole of it when one says too little to be ended, or
-- a job is named twice: that is a mistake of the caller, not of a provider.
-- for: internal
create or replace function livewell_private.read_fetches(p_ended jsonb) returns livewell_private.ended_fetch[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_ended livewell_private.ended_fetch[];
    v_bad bigint;
begin
    if jsonb_typeof(p_ended) is distinct from 'array' then
        raise exception using errcode = 'LWN01', message = 'ended refreshes must be a JSON array of objects';
    end if;
    v_ended := array(select e from jsonb_populate_recordset(null::livewell_private.ended_fetch, p_ended) as e);
    select e.ordinality into v_bad
    from unnest(v_ended) with ordinality as e
    where (
        num_nulls(e.job, e.token, e.item, e.type, e.key) = 0 and case
            when e.outcome = 'fetched' then coalesce(jsonb_typeof(e.rows), '') = 'array'
            when e.outcome in ('refused', 'failed') then e.reason is not null
            else e.outcome in ('unchanged', 'throttled', 'gone')
        end
    ) is not true
    limit 1;
    if v_bad is not null then
        raise exception using errcode = 'LWN01', message = format('ended refresh %s says too little or cannot be so', v_bad),
            hint = 'each has job, token, item, type, key and outcome: fetched with rows, unchanged, throttled, gone, '
                'refused or failed with a reason';
    end if;
    return array(select e from unnest(v_ended) as e order by e.job);
end $$;
