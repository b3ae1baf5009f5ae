-- Notes rows that the open transaction of somebody else keeps from us, and who that is: each once a minute, with a line in the server's
-- log and one warning for all. Answers with who it is.
-- for: internal
create or replace function livewell_private.note_locked_rows(
    p_code text, p_subject text, p_table regclass, p_rows text[], p_names text[], p_transactions xid[], p_now timestamptz
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    v_table constant text := p_table::text;
    v_rows text[];
    v_names text[];
    v_holder text;
begin
    select array_agg(r.row_key), array_agg(r.name order by r.name) into v_rows, v_names
    from unnest(p_rows, p_names) as r (row_key, name)
    where not exists (
        select from livewell_private.locked_row as h
        where h.table_name = v_table and h.row_key = r.row_key and h.noted_at > p_now - interval '1 minute'
    );
    if v_rows is null then
        return livewell_private.who_locked(v_table, p_rows[1]);
    end if;
    v_holder := livewell_private.who_holds(p_table, p_transactions);
    insert into livewell_private.locked_row (table_name, row_key, noted_at, holder)
    select v_table, r.row_key, p_now, v_holder from unnest(v_rows) as r (row_key);
    perform livewell_private.warn(p_code, p_subject, format(
        '%s%s set aside, held by %s, seen since %s', array_to_string(v_names[:5], ', '),
        case when cardinality(v_names) > 5 then ' and others' end, v_holder, (
            select to_char(min(h.noted_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') from livewell_private.locked_row as h
            where h.table_name = v_table and h.row_key = any (v_rows)
        )
    ), p_now, cardinality(v_rows));
    raise log '% %: % rows of % held by %', p_code, p_subject, cardinality(v_rows), v_table, v_holder;
    return v_holder;
end $$;
