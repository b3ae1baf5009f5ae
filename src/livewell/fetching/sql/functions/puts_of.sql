-- Rows that are put as store_puts takes them, key by key, with the reason of those that do not fit the declared fields. In a list rows
-- name their keys, by the key column or the key of the declared fetch; in an object each key has its row, or the list of its rows.
-- for: internal
create or replace function livewell_private.puts_of(p_type text, p_rows jsonb, p_now timestamptz) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_type record;
    v_volatile jsonb;
    v_puts jsonb;
begin
    if coalesce(jsonb_typeof(p_rows), '') not in ('array', 'object') then
        raise exception using errcode = 'LWN06', message = 'what is put must be a JSON list of rows, or an object of keys and rows',
            hint = '[{"symbol": "AAPL", "price": 190.5}] or {"AAPL": {"price": 190.5}}';
    end if;
    select t.*, coalesce(t.key_column, t.fetch_call ->> 'key') as key_field,
        coalesce(t.source_time_column, livewell_private.source_time_field(t.fields)) as source_field
    into v_type
    from livewell_private.known_types as t where t.name = p_type;
    select jsonb_agg(f.key) into v_volatile
    from jsonb_each(v_type.fields) as f where 'true' in (f.value ->> 'volatile', f.value ->> 'source_time');
    with given as (
        select r.row ->> v_type.key_field as key, r.row, coalesce(v_type.fetch_call ->> 'rows' = 'many', false) as many, r.at
        from jsonb_array_elements(case when jsonb_typeof(p_rows) = 'array' then p_rows else '[]' end) with ordinality as r (row, at)
        union all
        select k.key, case when jsonb_typeof(r.row) = 'object' and v_type.key_column is not null
            then jsonb_build_object(v_type.key_column, k.key) || r.row else r.row end, jsonb_typeof(k.value) = 'array', k.at
        from jsonb_each(case when jsonb_typeof(p_rows) = 'object' then p_rows else '{}' end) with ordinality as k (key, value, at)
        left join lateral jsonb_array_elements(case when jsonb_typeof(k.value) = 'array' then k.value else jsonb_build_array(k.value) end) as r (row) on true
    ),
    judged as (
        select g.key, g.many, g.at, f.row as given, case
            when g.row is null then null
            when jsonb_typeof(g.row) <> 'object' then 'a row is an object with fields'
            when v_type.fields is not null then livewell_private.row_problem(v_type.fields, v_type.extra, f.row)
        end as problem
        from given as g
        cross join lateral (
            select case
                when jsonb_typeof(g.row) = 'object' and v_type.fields is not null and not v_type.fields ? v_type.key_field
                    then g.row - v_type.key_field
                else g.row
            end as row
        ) as f
    ),
    grouped as (
        select j.key, min(j.at) as at, bool_or(j.many) as many, coalesce(jsonb_agg(r.row order by j.at) filter (where r.row is not null), '[]') as rows,
            min(j.problem) as problem, max(livewell_private.read_time(r.row ->> v_type.source_field)) as source_time
        from judged as j
        -- A field that may be missing, and is, is null; one that is ignored is left out.
        cross join lateral (
            select case when j.problem is null and j.given is not null and v_type.fields is not null then (
                select jsonb_object_agg(f.key, coalesce(j.given -> f.key, 'null')) from jsonb_each(v_type.fields) as f
            ) else j.given end as row
        ) as r
        group by j.key
    )
    select coalesce(jsonb_agg(jsonb_build_object(
        'key', g.key, 'rows', g.rows, 'many', g.many, 'source_time', g.source_time, 'volatile', v_volatile,
        'reason', case when g.problem is not null then 'schema' when g.source_time > p_now + interval '1 day' then 'bounds' end,
        'message', coalesce(g.problem, case when g.source_time > p_now + interval '1 day' then 'its source time is in the future' end)
    ) order by g.at), '[]')
    into v_puts
    from grouped as g;
    return v_puts;
end $$;
