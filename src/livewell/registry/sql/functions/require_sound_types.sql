-- Refuses the first type that cannot be as asked: by its own fields, by an endpoint or a time that is not there and, when it
-- is to be live, by what checking it finds.
-- for: internal
create or replace function livewell.require_sound_types(p_types livewell.data_type[], p_now timestamptz) returns void
language plpgsql security definer
set search_path = '' as $$
declare
    v_type livewell.data_type;
    v_found record;
    v_message text;
    v_fix text;
begin
    foreach v_type in array coalesce(p_types, '{}') loop
        if livewell.type_problem(v_type) is not null then
            perform livewell.refuse_type(v_type.name, livewell.type_problem(v_type));
        end if;
        begin
            perform livewell.require_endpoint(v_type.endpoint);
        exception
            when sqlstate 'LWB01' then
                get stacked diagnostics v_message = message_text, v_fix = pg_exception_hint;
                perform livewell.refuse_type(v_type.name, v_message, v_fix);
        end;
        select f.message, f.fix into v_found
        from livewell.findings_on_type(v_type, p_now) as f
        where f.severity = 'error' and (v_type.enabled or f.problem = 'cron')
        limit 1;
        if found then
            perform livewell.refuse_type(v_type.name, v_found.message, v_found.fix);
        end if;
    end loop;
end $$;
