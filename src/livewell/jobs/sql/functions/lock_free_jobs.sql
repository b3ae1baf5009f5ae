-- Locks those live jobs that nobody else has at this moment, answers with them, and notes the others.
-- for: internal
create or replace function livewell_private.lock_free_jobs(p_ids bigint[], p_now timestamptz) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_free constant bigint[] := array(
        select j.id from livewell_private.job_live as j where j.id = any (p_ids) order by j.id for update skip locked
    );
begin
    perform livewell_private.note_locked_rows('jobs.job_held', h.kind, 'livewell_private.job_live', h.ids, h.ids, h.transactions, p_now)
    from (
        select j.kind, array_agg(j.id::text) as ids, array_agg(j.xmax) as transactions
        from livewell_private.job_live as j
        where j.id = any (p_ids) and j.id <> all (v_free)
        group by j.kind
    ) as h;
    return v_free;
end $$;
