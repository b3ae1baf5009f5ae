-- Refuses who may not read a type: whoever is not the service reads what its read rule says, of a table that has no row-level
-- security now, whatever it had when the type was declared. To who is not signed in, a type that is not there is one like any other.
-- for: internal
create or replace function livewell_private.require_reader(p_type text, p_role name) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_type livewell_private.data_type;
    v_is_user constant boolean := pg_catalog.pg_has_role(p_role, 'livewell_user', 'usage');
begin
    if livewell_private.is_service(p_role) or v_is_user then
        perform livewell_private.require_type(p_type);
    end if;
    if livewell_private.is_service(p_role) then
        return;
    end if;
    select t.* into v_type from livewell_private.data_type as t where t.name = p_type;
    if v_type.read_rule is distinct from 'public' and not (v_is_user and v_type.read_rule = 'signed_in') then
        raise exception using errcode = 'LWN03', message = format('you may not read type %s', coalesce(quote_ident(left(p_type, 100)), 'without a name')),
            hint = 'its owner says who may: read = "signed_in" or "public"';
    end if;
    if v_type.read_rule = 'signed_in' then
        perform livewell.current_user_id();
    end if;
    if livewell_private.type_problem(v_type) is not null or exists (select from livewell_private.findings_on_reading(v_type)) then
        raise exception using errcode = 'LWN03', message = format('type %s cannot be read by users as its table is', v_type.name),
            hint = format('livewell types check %s', v_type.name);
    end if;
end $$;
