-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_free_jobs(p_ids bigint[], p_now timestamp with time zone)
 RETURNS bigint[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_free constant bigint[] := array(
        select j.id from livewell.job_live as j where j.id = any (p_ids) order by j.id for update skip locked
    );
begin
    perform livewell.note_locked_rows('jobs.job_held', h.kind, 'livewell.job_live', h.ids, h.ids, h.transactions, p_now)
    from (
        select j.kind, array_agg(j.id::text) as ids, array_agg(j.xmax) as transactions
        from livewell.job_live as j
        where j.id = any (p_ids) and j.id <> all (v_free)
        group by j.kind
    ) as h;
    return v_free;
end $function$;
