-- Makes a worker known: what it serves, and that it is there.
-- for: service
create or replace function livewell.register_worker(
    p_worker text, p_groups text[], p_kinds text[], p_slots integer, p_now timestamptz default clock_timestamp()
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_primary();
    if length(p_worker) not between 1 and 200 then
        raise exception using errcode = 'LWJ03', message = 'the name of a worker has 1 to 200 characters';
    end if;
    insert into livewell_private.worker (id, queue_groups, kinds, slots, started_at, last_seen)
    values (p_worker, p_groups, p_kinds, p_slots, p_now, p_now)
    on conflict (id) do update set
        queue_groups = excluded.queue_groups, kinds = excluded.kinds, slots = excluded.slots, last_seen = excluded.last_seen;
end $$;
