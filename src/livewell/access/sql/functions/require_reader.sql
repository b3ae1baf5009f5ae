-- Refuses who may not read a type: whoever is not the service reads what its read rule says, of a table that has no row-level
-- security now, whatever it had when the type was declared. To who is not signed in, a type that is not there is one like any other.
-- A rule for the signed in asks for the name of the user, unless it is a class of viewers that reads: that has none.
-- for: internal
create or replace function livewell_private.require_reader(p_type text, p_role name, p_by_name boolean default true) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_rule text;
    v_is_user constant boolean := pg_catalog.pg_has_role(p_role, 'livewell_user', 'usage');
begin
    if livewell_private.is_service(p_role) or v_is_user then
        perform livewell_private.require_type(p_type);
    end if;
    if livewell_private.is_service(p_role) then
        return;
    end if;
    select t.read_rule into v_rule from livewell_private.known_types as t where t.name = p_type;
    if coalesce(v_rule, 'nobody') = 'nobody' or (v_rule = 'signed_in' and not v_is_user) then
        raise exception using errcode = 'LWC01', message = format('you may not read type %s', coalesce(quote_ident(left(p_type, 100)), 'without a name')),
            hint = 'its owner says who may: read = "signed_in" or "public", among others';
    end if;
    if v_rule = 'signed_in' and p_by_name then
        perform livewell.current_user_id();
    end if;
    if v_rule = 'rls' then
        raise exception using errcode = 'LWC01', message = format('type %s is read by the row-level security of its table', p_type),
            hint = 'select from the table itself, with your own role';
    end if;
    perform livewell_private.require_readable_table(p_type);
end $$;
