-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.rows_of_keys(p_type livewell.data_type, p_keys text[], p_most bigint)
 RETURNS livewell.stored_value[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_half constant integer := cardinality(p_keys) / 2;
    v_rows livewell.stored_value[];
begin
    if p_type.table_name is null then
        return array(
            select row (r.key, r.value, r.fetched_at)::livewell.stored_value
            from unnest(p_keys) as k (key)
            cross join lateral (
                select r.* from livewell.record as r
                where r.data_type = p_type.name and r.key = k.key and r.fetched_at is not null offset 0
            ) as r
        );
    end if;
    begin
        perform livewell.require_foreign('read_foreign_rows');
        select array_agg(row (s.key, s.value, s.fetched_at)::livewell.stored_value) into v_rows
        from livewell.read_foreign_rows(livewell.reading_query(p_type), p_keys, p_most) as r
        cross join lateral unnest(r.keys, r.stored, r.fetched_at) as s (key, value, fetched_at);
        return v_rows;
    exception
        when data_exception or check_violation or not_null_violation then
            if v_half = 0 then
                return null;
            end if;
    end;
    return livewell.rows_of_keys(p_type, p_keys[:v_half], p_most) || livewell.rows_of_keys(p_type, p_keys[v_half + 1:], p_most);
end $function$;
