-- name: tables_of_wide
-- Today's shape: one row from the queue to the lease, rewritten by the claim, moved by the finish.
create table job (
    id bigint generated always as identity primary key, state text not null default 'pending', lane_id integer not null,
    priority integer not null, due_at timestamptz not null, attempt integer not null default 0, payload jsonb not null, dedupe_key text,
    endpoint text, lease_token uuid, lease_until timestamptz, worker text, started_at timestamptz, created_at timestamptz not null default now()
) with (fillfactor = 70);
create unique index on job (dedupe_key) where dedupe_key is not null;
create index on job (lane_id, priority desc, due_at, id) where state = 'pending';
create index on job (lane_id, lease_until) where state = 'processing';

-- name: tables_of_narrow
-- The ready order and the leases apart: a claim moves narrow rows, and the wide one is written once and moved once.
create table job (
    id bigint generated always as identity primary key, lane_id integer not null, priority integer not null, due_at timestamptz not null,
    attempt integer not null default 0, payload jsonb not null, dedupe_key text, endpoint text,
    created_at timestamptz not null default now()
);
create unique index on job (dedupe_key) where dedupe_key is not null;
create table ready (lane_id integer not null, priority integer not null, due_at timestamptz not null, id bigint not null);
create unique index on ready (lane_id, priority desc, due_at, id);
create table lease (
    id bigint primary key, lane_id integer not null, attempt integer not null, token uuid not null, worker text not null,
    started_at timestamptz not null, lease_until timestamptz not null
);
create index on lease (lane_id, lease_until);

-- name: tables_of_both
-- Where finished jobs go, the same for every layout.
create table done (
    id bigint not null, lane_id integer not null, priority integer not null, due_at timestamptz not null, attempt integer not null,
    payload jsonb not null, dedupe_key text, endpoint text, worker text, started_at timestamptz, created_at timestamptz,
    finished_at timestamptz not null
);
create index on done (id);

-- name: functions_of_wide
-- Enqueue, claim and finish as the product does them, without what budgets, serial keys and kinds need.
create function enqueue(p_first bigint, p_last bigint) returns void language plpgsql as $$
begin
    insert into job (lane_id, priority, due_at, payload, dedupe_key)
    select 1, abs(hashint8(i)) % 50, now(), jsonb_build_object('i', i), 'noop/' || i from generate_series(p_first, p_last) as i;
end $$;
create function claim(p_max integer) returns table (id bigint, token uuid, payload jsonb) language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_token constant uuid := gen_random_uuid();
begin
    return query
    update job as j
    set state = 'processing', attempt = j.attempt + 1, lease_token = v_token, worker = 'bench', started_at = clock_timestamp(),
        lease_until = clock_timestamp() + interval '5 minutes'
    where j.ctid = any (array(
        select r.ctid from job as r where r.lane_id = 1 and r.state = 'pending'
        order by r.priority desc, r.due_at, r.id limit p_max for update skip locked
    ))
    returning j.id, j.lease_token, j.payload;
end $$;
create function finish(p_ids bigint[], p_tokens uuid[]) returns bigint language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
    v_ended bigint;
begin
    with gone as (
        delete from job as j using unnest(p_ids, p_tokens) as i (id, token) where j.id = i.id and j.lease_token = i.token returning j.*
    ), kept as (
        insert into done
        select g.id, g.lane_id, g.priority, g.due_at, g.attempt, g.payload, g.dedupe_key, g.endpoint, g.worker, g.started_at, g.created_at,
            clock_timestamp()
        from gone as g
    )
    select count(*) into v_ended from gone;
    return v_ended;
end $$;

-- name: functions_of_narrow
-- The same three, over the narrow tables.
create function enqueue(p_first bigint, p_last bigint) returns void language plpgsql as $$
begin
    with added as (
        insert into job (lane_id, priority, due_at, payload, dedupe_key)
        select 1, abs(hashint8(i)) % 50, now(), jsonb_build_object('i', i), 'noop/' || i from generate_series(p_first, p_last) as i
        returning id, lane_id, priority, due_at
    )
    insert into ready (lane_id, priority, due_at, id) select a.lane_id, a.priority, a.due_at, a.id from added as a;
end $$;
create function claim(p_max integer) returns table (id bigint, token uuid, payload jsonb) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    v_token constant uuid := gen_random_uuid();
begin
    return query
    with taken as (
        delete from ready as r where r.ctid = any (array(
            select c.ctid from ready as c where c.lane_id = 1
            order by c.priority desc, c.due_at, c.id limit p_max for update skip locked
        ))
        returning r.id, r.lane_id
    ), leased as (
        insert into lease (id, lane_id, attempt, token, worker, started_at, lease_until)
        select t.id, t.lane_id, 1, v_token, 'bench', clock_timestamp(), clock_timestamp() + interval '5 minutes' from taken as t
    )
    select t.id, v_token, j.payload from taken as t join job as j on j.id = t.id;
end $$;
create function finish(p_ids bigint[], p_tokens uuid[]) returns bigint language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
    v_ended bigint;
begin
    with ended as (
        delete from lease as l using unnest(p_ids, p_tokens) as i (id, token) where l.id = i.id and l.token = i.token
        returning l.id, l.attempt, l.worker, l.started_at
    ), gone as (
        delete from job as j using ended as e where j.id = e.id returning j.*, e.attempt as tried, e.worker, e.started_at
    ), kept as (
        insert into done
        select g.id, g.lane_id, g.priority, g.due_at, g.tried, g.payload, g.dedupe_key, g.endpoint, g.worker, g.started_at, g.created_at,
            clock_timestamp()
        from gone as g
    )
    select count(*) into v_ended from gone;
    return v_ended;
end $$;

-- name: one_trip
-- Finish and the next claim in one call.
create function finish_and_claim(p_ids bigint[], p_tokens uuid[], p_max integer) returns table (id bigint, token uuid, payload jsonb)
language plpgsql as $$
begin
    perform finish(p_ids, p_tokens);
    return query select c.id, c.token, c.payload from claim(p_max) as c;
end $$;
