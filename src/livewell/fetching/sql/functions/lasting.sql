-- What of a stored value stays while the data does: the row, or the rows in any order, without the fields that are volatile.
-- for: internal
create or replace function livewell_private.lasting(p_value jsonb, p_volatile text[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if jsonb_typeof(p_value) = 'object' then
        return p_value - coalesce(p_volatile, '{}');
    elsif jsonb_typeof(p_value) = 'array' then
        return (
            select jsonb_agg(r.value order by r.value)
            from (
                select case when jsonb_typeof(e.value) = 'object' then e.value - coalesce(p_volatile, '{}') else e.value end as value
                from jsonb_array_elements(p_value) as e
            ) as r
        );
    end if;
    return p_value;
end $$;
