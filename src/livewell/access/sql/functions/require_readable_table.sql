-- Refuses a type whose table users cannot read as its rule says, whatever it was when the type was declared. What Livewell keeps
-- itself, and no function is asked about, can be read.
-- for: internal
create or replace function livewell_private.require_readable_table(p_type text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (
        select from livewell_private.known_types as t where t.name = p_type and t.table_name is null and t.read_function is null
    ) then
        return;
    end if;
    if livewell_private.type_problem(livewell_private.type_named(p_type)) is not null or exists (
        select from livewell_private.findings_on_reading(livewell_private.type_named(p_type)) as f where f.severity = 'error'
    ) then
        raise exception using errcode = 'LWC01', message = format('type %s cannot be read by users as its table is', p_type),
            hint = format('livewell types check %s', p_type);
    end if;
end $$;
