-- The statement that stores rows in the table of a type: known rows are changed, new ones added, each in the order of its key. A
-- refresh with a row that is not of its key, lacks a part of it, or is older than what is stored is held back whole. Rows are locked as
-- they are read, so that what is compared is what is replaced: older rows are not written, and a refresh after which all its rows say what
-- they said before, but for their times and what is volatile, brought the same content, whatever triggers made of it. Answers with the
-- jobs that were held back or brought the same, and why. $1 now, $2 jobs, $3 keys, $4 rows, $5 source times.
-- for: internal
create or replace function livewell_private.storing_query(p_storing livewell_private.storing, p_volatile text[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type constant livewell_private.data_type := p_storing.type;
    v_row_key constant text[] := p_storing.row_key;
    v_table constant text := format('%I.%I', split_part(v_type.table_name, '.', 1), split_part(v_type.table_name, '.', 2));
    v_source constant text := quote_ident(v_type.source_time_column);
    v_newer constant boolean := coalesce(v_type.source_rule = 'newer', false);
    v_parts record;
begin
    select string_agg(format('%I %s', c.name, case when c.name = v_type.key_column then 'text' else c.type end), ', ')
            filter (where c.in_rows) as read,
        string_agg(format('%I', c.name), ', ') filter (where c.value is not null) as names,
        string_agg(format('%s as %I', c.value, c.name), ', ') filter (where c.value is not null) as made,
        string_agg(format('%1$I = excluded.%1$I', c.name), ', ')
            filter (where c.value is not null and c.is_changed and not c.name = any (v_row_key)) as changed,
        string_agg(format(', t.%I', c.name), '') filter (
            where c.value is not null and c.is_changed and not c.name = any (v_row_key) and c.name <> v_type.time_column
                and c.name is distinct from v_type.source_time_column and c.name <> all (coalesce(p_volatile, '{}'))
        ) as compared,
        ' or ' || string_agg(format('i.%I is null', c.name), ' or ') filter (where c.name = any (v_row_key) and not c.is_filled) as keyless,
        string_agg(format(
            't.%1$I %2$s i.%1$I', c.name, livewell_private.equality_of(livewell_private.find_relation(v_type.table_name), c.name)
        ), ' and ') filter (where c.name = any (v_row_key)) as same_row,
        string_agg(format('t.%I', c.name), ', ') filter (where c.name = any (v_row_key)) as row_key,
        bool_or(c.in_rows and c.name = v_type.key_column) as names_key
    into v_parts
    from unnest(p_storing.columns) as c;
    -- What is ours has a colon in its name: no column of a model has one.
    return format(
        'with incoming as materialized (select e.job_id as ":job", %s as ":strange", %s from unnest($2, $3, $4, $5) as e (job_id, key, rows, source_time)'
        ' cross join lateral jsonb_to_recordset(e.rows) as r (%s)), ',
        case when v_parts.names_key then format('r.%I is distinct from e.key', v_type.key_column) else 'false' end, v_parts.made, v_parts.read
    ) || format(
        'judged as materialized (select i.*, t.":before", case when bool_or(i.":strange") over w then ''wrong_key'''
        ' when bool_or(false%s) over w then ''missing_key''%s end as ":reason" from incoming as i'
        ' left join lateral (select row (0%s) as ":before"%s from %s as t where %s for no key update) as t on true window w as (partition by i.":job")), ',
        v_parts.keyless,
        case when v_source is not null then format(
            ' when bool_or(i.%1$s is null) over w then ''missing_source_time'' when bool_or(i.%1$s < t.%1$s) over w then ''old_data'''
            || case when v_newer then ' when bool_and(coalesce(i.%1$s = t.%1$s, false)) over w then ''same_source_time''' else '' end, v_source
        ) end,
        v_parts.compared, ', t.' || v_source, v_table, v_parts.same_row
    ) || format(
        'stored as (insert into %s as t (%s) select %s from judged as i where i.":reason" is null order by %s on conflict (%s) do update set %s%s'
        ' returning %s, row (0%s) as ":after")'
        ' select array_agg(j.job), array_agg(j.reason) from ('
        'select distinct i.":job" as job, i.":reason" as reason from judged as i where i.":reason" is not null union all '
        'select i.":job", ''same_content'' from judged as i left join stored as t on %s where i.":reason" is null group by i.":job"'
        ' having bool_and(t.":after" is null or coalesce(i.":before" *= t.":after", false))) as j',
        v_table, v_parts.names, v_parts.names,
        (select string_agg(format('i.%I', u.name), ', ' order by u.name <> v_type.key_column, u.at)
            from unnest(v_row_key) with ordinality as u (name, at)),
        (select string_agg(quote_ident(u.name), ', ') from unnest(v_row_key) as u (name)), v_parts.changed,
        ' where t.' || v_source || ' is null or excluded.' || v_source || case when v_newer then ' > t.' else ' >= t.' end || v_source,
        v_parts.row_key, v_parts.compared, v_parts.same_row
    );
end $$;
