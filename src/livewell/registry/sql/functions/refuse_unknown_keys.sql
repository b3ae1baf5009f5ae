-- Refuses keys of types that take known keys only, when one is not in the catalogue of its type.
-- for: internal
create or replace function livewell_private.refuse_unknown_keys(p_types text[], p_keys text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_unknown record;
begin
    select u.* into v_unknown from livewell_private.unknown_keys(p_types, p_keys) as u limit 1;
    if found then
        raise exception using errcode = 'LWR07',
            message = format('%s is not in the catalogue of type %s', to_json(left(v_unknown.key, 100)), v_unknown.data_type),
            hint = format('only known keys are watched: livewell keys list %s, or add it to the catalogue', v_unknown.data_type);
    end if;
end $$;
