-- A job table of Livewell's shape (list-partitioned by state, one small live partition, history of attempts) and its two
-- hot calls in two forms: as rows and arrays, and as one JSON value each way. Both forms do the same work.
create sequence job_id;

create table job (
    id bigint not null default nextval('job_id'),
    state text not null default 'pending',
    kind text not null default 'noop',
    payload jsonb not null,
    priority integer not null default 0,
    due_at timestamptz not null default now(),
    attempt integer not null default 0,
    dedupe_key text,
    lease_token uuid,
    lease_until timestamptz,
    worker text,
    result jsonb,
    created_at timestamptz not null default now(),
    finished_at timestamptz
) partition by list (state);

create table job_live partition of job (primary key (id)) for values in ('pending', 'processing') with (fillfactor = 70);
create table job_done partition of job for values in ('completed') partition by range (finished_at);
create table job_done_all partition of job_done default;
create unique index job_live_dedupe on job_live (dedupe_key) where dedupe_key is not null;
create index job_live_ready on job_live (priority desc, due_at, id) where state = 'pending';
create index job_live_lease on job_live (lease_until) where state = 'processing';

create table job_attempt (
    job_id bigint not null,
    attempt integer not null,
    worker text,
    started_at timestamptz,
    ended_at timestamptz not null,
    outcome text not null
);
create index job_attempt_of_job on job_attempt (job_id);

create function claim_rows(p_most integer, p_token uuid)
returns table (id bigint, kind text, payload text, attempt integer) language plpgsql as $$
#variable_conflict use_column
begin
    return query
    with chosen as materialized (
        select id from job_live where state = 'pending' and due_at <= clock_timestamp()
        order by priority desc, due_at, id limit p_most for update skip locked
    ), claimed as (
        update job_live set state = 'processing', attempt = attempt + 1, lease_token = p_token, worker = 'w',
            lease_until = clock_timestamp() + interval '60 seconds'
        where id = any (array(select id from chosen))
        returning id, kind, payload, attempt, priority, due_at
    )
    select id, kind, payload::text, attempt from claimed order by priority desc, due_at, id;
end $$;

create function claim_json(p_most integer, p_token uuid) returns text language sql as $$
    select json_agg(json_build_array(id, kind, payload::json, attempt))::text from claim_rows(p_most, p_token)
$$;

create function finish_rows(p_ids bigint[], p_outcomes text[], p_results text[], p_token uuid)
returns bigint language plpgsql as $$
declare
    v_finished bigint;
begin
    with gone as (
        delete from job_live where id = any (p_ids) and lease_token = p_token returning *
    ), told as materialized (
        select * from unnest(p_ids, p_outcomes, p_results) as told (id, outcome, result)
    ), kept as (
        insert into job (id, state, kind, payload, priority, due_at, attempt, dedupe_key, result, created_at, finished_at)
        select gone.id, told.outcome, gone.kind, gone.payload, gone.priority, gone.due_at, gone.attempt,
            gone.dedupe_key, told.result::jsonb, gone.created_at, clock_timestamp()
        from gone join told on told.id = gone.id
        returning id
    ), history as (
        insert into job_attempt
        select gone.id, gone.attempt, gone.worker, gone.created_at, clock_timestamp(), told.outcome
        from gone join told on told.id = gone.id
    )
    select count(*) into v_finished from kept;
    return v_finished;
end $$;

create function finish_json(p_batch text, p_token uuid) returns bigint language sql as $$
    select finish_rows(array_agg((entry ->> 0)::bigint), array_agg(entry ->> 1), array_agg(entry ->> 2), p_token)
    from json_array_elements(p_batch::json) as entry
$$;
