-- Inserts what is new and changes the pending job that has its dedupe key; a running one is kept as it is.
-- for: internal
create or replace function livewell_private.insert_or_change_jobs(p_jobs jsonb, p_on_duplicate text, p_now timestamptz)
returns livewell_private.enqueued_jobs
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_all livewell_private.enqueued_jobs;
    v_new livewell_private.enqueued_jobs;
    v_left integer[];
    v_positions integer[];
    v_keys text[];
    v_created bigint[];
    v_changed bigint[];
    v_serial_keys text[];
begin
    if p_on_duplicate = 'replace' then
        -- What is to change its key, its time or its rank may be the one that others of its serial key wait behind.
        select array_agg(distinct j.serial_key) into v_serial_keys
        from jsonb_array_elements(p_jobs) as i (sent)
        cross join lateral (
            select l.serial_key from livewell_private.job_live as l where l.dedupe_key = i.sent ->> 'dedupe_key' limit 1
        ) as j
        where j.serial_key is not null;
    end if;
    loop
        with input as materialized (
            -- Of equal keys in one batch one row is sent: the last to replace, the highest to raise.
            select i.*, nextval('livewell_private.job_id_seq') as id, i.dedupe_key is null or row_number() over (
                partition by i.dedupe_key
                order by case when p_on_duplicate = 'raise_priority' then i.priority end desc, i.job_position desc
            ) = 1 as sent
            from livewell_private.job_rows(p_jobs, p_now) as i
            where v_left is null or i.job_position = any (v_left)
        ),
        changed as (
            insert into livewell_private.job_live as j (
                id, lane_id, kind, priority, due_at, waiting_for, retries, payload, category, dedupe_key, serial_key, endpoint,
                estimated_bytes, estimated_tokens, trace_context, created_at
            )
            select
                i.id, i.lane_id, i.kind, i.priority, i.due_at, i.waiting_for, i.retries, i.payload, i.category, i.dedupe_key,
                i.serial_key, i.endpoint, i.estimated_bytes, i.estimated_tokens, i.trace_context, p_now
            from input as i where i.sent
            order by i.dedupe_key
            on conflict (dedupe_key) where dedupe_key is not null do update set (
                lane_id, kind, priority, due_at, waiting_for, retries, payload, category, serial_key, endpoint, estimated_bytes,
                estimated_tokens, trace_context
            ) = (
                select c.* from (values (
                    excluded.lane_id, excluded.kind, excluded.priority, excluded.due_at, excluded.waiting_for, excluded.retries,
                    excluded.payload, excluded.category, excluded.serial_key, excluded.endpoint, excluded.estimated_bytes,
                    excluded.estimated_tokens, excluded.trace_context
                )) as c where p_on_duplicate = 'replace'
                union all
                select c.* from (values (
                    j.lane_id, j.kind, excluded.priority, j.due_at, nullif(j.waiting_for, 'serial'), j.retries, j.payload, j.category,
                    j.serial_key, j.endpoint, j.estimated_bytes, j.estimated_tokens, j.trace_context
                )) as c where p_on_duplicate = 'raise_priority'
            )
            where j.state = 'pending' and (p_on_duplicate = 'replace' or excluded.priority > j.priority)
            returning id, dedupe_key
        )
        select array_agg(i.job_position), array_agg(i.dedupe_key), array_agg(n.id), array_agg(c.id),
            array_agg(distinct i.kind), bool_or(i.serial_key is not null)
        into v_positions, v_keys, v_created, v_changed, v_new.kinds, v_new.has_serial_keys
        from input as i
        left join changed as n on n.id = i.id
        left join changed as c on c.dedupe_key = i.dedupe_key;

        select
            array_agg(n.at) filter (where n.answer is not null), array_agg(n.answer) filter (where n.answer is not null),
            array_agg(n.outcome) filter (where n.answer is not null), array_agg(n.at) filter (where n.answer is null)
        into v_new.positions, v_new.ids, v_new.outcomes, v_left
        from (
            select i.at, coalesce(i.created, i.changed, j.id) as answer,
                case
                    when i.created is not null then 'created'
                    when i.changed is null then 'kept'
                    when p_on_duplicate = 'replace' then 'replaced'
                    else 'raised'
                end as outcome
            from unnest(v_positions, v_keys, v_created, v_changed) as i (at, dedupe_key, created, changed)
            left join livewell_private.job_live as j on i.changed is null and j.dedupe_key = i.dedupe_key
        ) as n;
        v_all := livewell_private.joined_enqueues(v_all, v_new);
        exit when v_left is null;
    end loop;
    if v_serial_keys is not null then
        perform livewell_private.promote_serial_jobs(v_serial_keys);
    end if;
    return v_all;
end $$;
