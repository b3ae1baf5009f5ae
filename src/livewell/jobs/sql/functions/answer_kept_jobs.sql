-- Answers each job that was not created with the live job that has its key; those whose live job just left are left over.
-- for: internal
create or replace function livewell_private.answer_kept_jobs(p_jobs jsonb, p_new livewell_private.enqueued_jobs, p_created bigint[])
returns livewell_private.enqueued_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_new livewell_private.enqueued_jobs := p_new;
begin
    select
        array_agg(n.at) filter (where n.answer is not null), array_agg(n.answer) filter (where n.answer is not null),
        array_agg(n.outcome) filter (where n.answer is not null), array_agg(n.at) filter (where n.answer is null)
    into v_new.positions, v_new.ids, v_new.outcomes, v_new.left_over
    from (
        select i.at, coalesce(c.id, j.id) as answer, case when c.id is null then 'kept' else 'created' end as outcome
        from unnest(p_new.positions, p_new.ids) as i (at, id)
        left join unnest(p_created) as c (id) on c.id = i.id
        left join livewell_private.job_live as j on c.id is null and j.dedupe_key = p_jobs -> (i.at - 1) ->> 'dedupe_key'
    ) as n;
    return v_new;
end $$;
