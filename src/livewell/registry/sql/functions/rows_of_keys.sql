-- The value of each key that has one, and when it was fetched: from the type's own table, the newest rows first, or from the records.
-- A key that the column of the table cannot hold has no rows: the keys are halved until it is alone.
-- for: internal
create or replace function livewell_private.rows_of_keys(p_type livewell_private.data_type, p_keys text[], p_most bigint)
returns livewell_private.stored_value[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_half constant integer := cardinality(p_keys) / 2;
    v_rows livewell_private.stored_value[];
begin
    if p_type.table_name is null then
        return array(
            select row (r.key, r.value, r.fetched_at)::livewell_private.stored_value
            from unnest(p_keys) as k (key)
            cross join lateral (
                select r.* from livewell_private.record as r
                where r.data_type = p_type.name and r.key = k.key and r.fetched_at is not null offset 0
            ) as r
        );
    end if;
    begin
        perform livewell_private.require_foreign('read_foreign_rows');
        select array_agg(row (s.key, s.value, s.fetched_at)::livewell_private.stored_value) into v_rows
        from livewell_private.read_foreign_rows(livewell_private.reading_query(p_type), p_keys, p_most) as r
        cross join lateral unnest(r.keys, r.stored, r.fetched_at) as s (key, value, fetched_at);
        return v_rows;
    exception
        when data_exception or check_violation or not_null_violation then
            if v_half = 0 then
                return null;
            end if;
    end;
    return livewell_private.rows_of_keys(p_type, p_keys[:v_half], p_most) || livewell_private.rows_of_keys(p_type, p_keys[v_half + 1:], p_most);
end $$;
