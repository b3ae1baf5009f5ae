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
    select array_agg(row (
            e.job, e.token, e.item, e.type, e.key, e.outcome, e.rows, coalesce(e.many, false), e.source_time, decode(e.hash, 'hex'),
            e.etag, e.last_modified, e.reason, e.message, e.seconds, e.status, e.bytes, e.tokens, nullif(e.rate, 'null'), e.sent, null
        )::livewell_private.ended_fetch order by e.job),
        min(e.at) filter (where (
            num_nulls(e.job, e.token, e.item, e.type, e.key) = 0 and case
                when e.outcome = 'fetched' then coalesce(jsonb_typeof(e.rows), '') = 'array'
                when e.outcome in ('refused', 'failed') then e.reason is not null
                else e.outcome in ('unchanged', 'throttled', 'gone')
            end
        ) is not true)
    into v_ended, v_bad
    from rows from (
        jsonb_to_recordset(p_ended) as (
            job bigint, token uuid, item bigint, type text, key text, outcome text, rows jsonb, many boolean, source_time timestamptz,
            hash text, etag text, last_modified text, reason text, message text, seconds double precision, status integer,
            bytes bigint, tokens integer, rate jsonb, sent boolean
        )
    ) with ordinality as e (
        job, token, item, type, key, outcome, rows, many, source_time, hash, etag, last_modified, reason, message, seconds, status,
        bytes, tokens, rate, sent, at
    );
    if v_bad is not null then
        raise exception using errcode = 'LWN01', message = format('ended refresh %s says too little or cannot be so', v_bad),
            hint = 'each has job, token, item, type, key and outcome: fetched with rows, unchanged, throttled, gone, '
                'refused or failed with a reason';
    end if;
    return v_ended;
end $$;
