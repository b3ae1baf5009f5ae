-- A batch of requests as rows of the live partition, each checked: defaults from its kind, its lane, waiting when due later or
-- when its endpoint asks for a pause.
-- for: internal
create or replace function livewell_private.job_rows(p_jobs jsonb, p_now timestamptz)
returns table (
    job_position integer, lane_id integer, kind text, priority integer, due_at timestamptz, waiting_for text, retries integer,
    payload jsonb, category text, dedupe_key text, serial_key text, endpoint text, estimated_bytes bigint,
    estimated_tokens integer, trace_context jsonb
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_fields constant text[] := livewell_private.job_fields();
    v_pressed jsonb;
begin
    if jsonb_path_exists(p_jobs, '$[*].endpoint ? (@ != null && @ != "")') then
        v_pressed := livewell_private.backpressure_of(p_jobs, p_now);
    end if;
    return query
    select
        j.ordinality::integer,
        case
            when k.kind is null or jsonb_typeof(j.payload) is distinct from 'object' or j.payload = '{}'
                or j.value - v_fields <> '{}' or j.dedupe_key = '' or j.serial_key = '' or j.endpoint = ''
                or length(j.dedupe_key) > 500 or length(j.serial_key) > 500 or length(j.category) > 100
                then livewell_private.refuse_job(j.value, j.ordinality::integer)
            when l.id is null then livewell_private.open_lane_for(j.kind, j.endpoint)
            else l.id
        end,
        j.kind, coalesce(j.priority, k.default_priority),
        case
            when d.delay_seconds is null then coalesce(j.scheduled_at, p_now)
            else coalesce(j.scheduled_at, p_now) + make_interval(secs => d.delay_seconds)
        end,
        case
            when d.delay_seconds is null then case when j.scheduled_at > p_now then 'due' end
            when coalesce(j.scheduled_at, p_now) + make_interval(secs => d.delay_seconds) > p_now then 'due'
        end,
        coalesce(j.retries, k.retries), j.payload,
        coalesce(j.category, 'standard'), j.dedupe_key,
        case when v_pressed is null or (v_pressed -> j.endpoint ->> 'serial') is distinct from 'false' then j.serial_key end,
        j.endpoint, j.estimated_bytes,
        coalesce(j.estimated_tokens, 1000), j.trace_context
    from rows from (
        jsonb_to_recordset(p_jobs) as (
            kind text, payload jsonb, priority integer, scheduled_at timestamptz, delay_seconds double precision,
            category text, dedupe_key text, serial_key text, endpoint text, estimated_bytes bigint, estimated_tokens integer,
            retries integer, trace_context jsonb
        ),
        jsonb_array_elements(p_jobs)
    ) with ordinality as j
    cross join lateral (
        select case
            when v_pressed is null or j.delay_seconds is not null or j.scheduled_at is not null then j.delay_seconds
            else (v_pressed -> j.endpoint ->> 'delay')::double precision
        end as delay_seconds
    ) as d
    left join livewell_private.job_kind as k on k.kind = j.kind
    left join livewell_private.job_lane as l on l.kind = j.kind and l.endpoint is not distinct from j.endpoint
    order by j.ordinality;
end $$;
