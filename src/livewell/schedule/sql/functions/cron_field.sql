-- The values one field of a cron expression names, or null when it is none: lists of numbers, names, ranges and steps.
-- for: internal
create or replace function livewell_private.cron_field(
    p_text text, p_low integer, p_high integer, p_names text[] default '{}'
) returns integer[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_term text;
    v_parts text[];
    v_from integer;
    v_to integer;
    v_values integer[] := array[]::integer[];
begin
    foreach v_term in array string_to_array(lower(p_text), ',') loop
        v_parts := regexp_match(v_term, '^(?:(\*)|(\d{1,2}|[a-z]{3})(?:-(\d{1,2}|[a-z]{3}))?)(?:/(\d{1,3}))?$');
        if v_parts is null or v_parts[4]::integer = 0 or v_parts[4] is not null and coalesce(v_parts[1], v_parts[3]) is null then
            return null;
        end if;
        v_from := case
            when v_parts[1] is not null then p_low
            when v_parts[2] ~ '^\d' then v_parts[2]::integer
            else array_position(p_names, v_parts[2]) - 1 + p_low
        end;
        v_to := case
            when v_parts[1] is not null then p_high
            when v_parts[3] is null then v_from
            when v_parts[3] ~ '^\d' then v_parts[3]::integer
            else array_position(p_names, v_parts[3]) - 1 + p_low
        end;
        if v_from is null or v_to is null or v_from < p_low or v_to > p_high or v_from > v_to then
            return null;
        end if;
        v_values := v_values || array(select generate_series(v_from, v_to, coalesce(v_parts[4]::integer, 1)));
    end loop;
    return nullif(v_values, '{}');
end $$;
