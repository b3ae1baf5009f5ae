-- What of stored values the read rule of a type lets whoever asks have: where a column of the row must equal a claim, the rows in which
-- it does. A key without any is left out.
-- for: internal
create or replace function livewell_private.rows_let_through(p_type text, p_rows livewell_private.stored_value[])
returns livewell_private.stored_value[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_column text;
    v_said text[];
begin
    select substr(t.read_equals, 8), livewell_private.claim_texts(t.read_claim) into v_column, v_said
    from livewell_private.known_types as t where t.name = p_type and t.read_rule = 'claim' and t.read_equals like 'column:%';
    if not found then
        return p_rows;
    end if;
    return array(
        select row (r.key, l.value, r.fetched_at)::livewell_private.stored_value
        from unnest(p_rows) as r
        cross join lateral (
            select case jsonb_typeof(r.value)
                when 'array' then (
                    select jsonb_agg(e.value order by e.at) from jsonb_array_elements(r.value) with ordinality as e (value, at)
                    where e.value ->> v_column = any (v_said)
                )
                else case when r.value ->> v_column = any (v_said) then r.value end
            end as value
        ) as l
        where l.value is not null
    );
end $$;
