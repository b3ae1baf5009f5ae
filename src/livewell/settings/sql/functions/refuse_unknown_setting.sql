-- Says that there is no such setting (of that type) and which one was probably meant.
-- for: internal
create or replace function livewell_private.refuse_unknown_setting(p_name text, p_type text default null) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    v_type text := (select s.type from livewell_private.setting s where s.name = p_name);
    v_nearest text := livewell_private.nearest_setting(p_name);
begin
    raise exception using
        errcode = 'LWS01',
        message = case
            when v_type is null then format('there is no setting %s', coalesce(quote_ident(p_name), 'without a name'))
            else format('setting %s is of type %s, not %s', p_name, v_type, p_type)
        end,
        hint = case
            when v_type is not null then format('read it with setting_%s', replace(v_type, 'duration', 'interval'))
            when v_nearest is not null then format('did you mean %s?', v_nearest)
            else 'the names are in the view livewell.settings'
        end;
end
$$;
