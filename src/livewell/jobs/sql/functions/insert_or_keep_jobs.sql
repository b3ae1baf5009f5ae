-- Inserts what is new and answers with the live job where the dedupe key is taken; looks again when that one just left.
-- for: internal
create or replace function livewell_private.insert_or_keep_jobs(p_jobs jsonb, p_now timestamptz)
returns livewell_private.enqueued_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_all livewell_private.enqueued_jobs;
    v_new livewell_private.enqueued_jobs;
    v_created bigint[];
    v_left integer[];
begin
    loop
        with input as materialized (
            select nextval('livewell_private.job_id_seq') as id, i.*
            from livewell_private.job_rows(p_jobs, p_now) as i
            where v_left is null or i.job_position = any (v_left)
        ),
        created as (
            insert into livewell_private.job_live (
                id, lane_id, kind, priority, due_at, waiting_for, retries, payload, category, dedupe_key, serial_key, endpoint,
                estimated_bytes, estimated_tokens, trace_context, created_at
            )
            select
                i.id, i.lane_id, i.kind, i.priority, i.due_at, i.waiting_for, i.retries, i.payload, i.category, i.dedupe_key,
                i.serial_key, i.endpoint, i.estimated_bytes, i.estimated_tokens, i.trace_context, p_now
            from input as i
            order by i.dedupe_key, i.job_position
            on conflict (dedupe_key) where dedupe_key is not null do nothing
            returning id
        )
        select
            array_agg(i.job_position), array_agg(i.id), array_agg('created'::text), array_agg(distinct i.kind),
            bool_or(i.serial_key is not null), (select array_agg(c.id) from created as c)
        into v_new.positions, v_new.ids, v_new.outcomes, v_new.kinds, v_new.has_serial_keys, v_created
        from input as i;
        if cardinality(v_created) = cardinality(v_new.ids) and v_all is null then
            return v_new;
        end if;
        v_new := livewell_private.answer_kept_jobs(p_jobs, v_new, v_created);
        v_left := v_new.left_over;
        v_all := livewell_private.joined_enqueues(v_all, v_new);
        exit when v_left is null;
    end loop;
    return v_all;
end $$;
