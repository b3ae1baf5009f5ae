-- What keeps a row from being taken by the fields that a type declares, in words: a field that is missing, unknown, empty, of another type
-- or out of its bounds. Null when nothing does. A model in Python knows more; here it is what can be said of JSON.
-- for: internal
create or replace function livewell_private.row_problem(p_fields jsonb, p_extra text, p_row jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select min(p.problem)
        from (
            select case
                when f.said is null then case when p_extra <> 'ignore' then format('%s is unknown', n.name) end
                when v.value is null then case when (f.said -> 'missing') is distinct from 'true' then format('%s is missing', n.name) end
                when v.kind = 'null' then
                    case when 'true' not in (coalesce(f.said ->> 'optional', ''), coalesce(f.said ->> 'missing', '')) then format('%s is null', n.name) end
                when v.kind <> case
                    when f.type in ('number', 'integer') then 'number' when f.type = 'boolean' then 'boolean' when f.type = 'json' then v.kind
                    else 'string'
                end then format('%s is no %s', n.name, f.type)
                when f.type = 'integer' and v.text !~ '^-?[0-9]+$' then format('%s is no integer', n.name)
                when f.type in ('epoch', 'epoch_ms', 'datetime', 'date') and livewell_private.read_time(v.text) is null then format('%s is no time', n.name)
                when v.kind = 'number' and (
                    v.text::numeric <= (f.said ->> 'above')::numeric or v.text::numeric >= (f.said ->> 'below')::numeric
                    or v.text::numeric < (f.said ->> 'at_least')::numeric or v.text::numeric > (f.said ->> 'at_most')::numeric
                ) then format('%s is out of bounds', n.name)
                when v.kind = 'string' and (
                    length(v.text) < (f.said ->> 'min_length')::integer or length(v.text) > (f.said ->> 'max_length')::integer
                    or v.text !~ (f.said ->> 'pattern')
                ) then format('%s is out of bounds', n.name)
                when not f.said -> 'one_of' @> v.value then format('%s is none of those declared', n.name)
            end as problem
            from (select jsonb_object_keys(p_fields) as name union select jsonb_object_keys(p_row)) as n
            cross join lateral (select p_fields -> n.name as said, p_fields -> n.name ->> 'type' as type) as f
            cross join lateral (
                select p_row -> n.name as value, p_row ->> n.name as text, jsonb_typeof(p_row -> n.name) as kind
            ) as v
        ) as p
    );
exception when invalid_regular_expression then
    return 'a pattern of its fields cannot be matched here: put it by Python';
end $$;
