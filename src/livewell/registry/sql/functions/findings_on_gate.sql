-- What is wrong with the gate of a type: a function that is not of the form, that fails, or calendars that are not there.
-- for: internal
create or replace function livewell_private.findings_on_gate(p_type livewell_private.data_type, p_now timestamptz)
returns table (severity text, problem text, message text, fix text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if p_type.gate = 'market_hours' then
        return query
        select 'warning', 'no_calendar', format('the sessions of %s are not known', string_agg(r.exchange, ', ' order by r.exchange)),
            'livewell calendars refresh; until then its gate holds nothing back'
        from (select distinct r.exchange from livewell_private.exchange_rule as r) as r
        left join livewell_private.exchange as e on e.code = r.exchange and p_now >= e.known_from and p_now < e.known_until
        where e.code is null
        having count(*) > 0;
    end if;
    if p_type.gate in ('always', 'market_hours') then
        return;
    end if;
    return query select f.* from livewell_private.findings_on_function(
        p_type.gate, 'text[], timestamp with time zone', 'TABLE(key text, open boolean, opens_at timestamp with time zone)'
    ) as f;
    if not found then
        perform livewell_private.ask_gate(p_type.gate, '{}', p_now);
    end if;
exception
    when others then
        return query select 'error', 'function_fails', format('%s fails: %s', p_type.gate, sqlerrm),
            case when sqlstate = '42501' then format('it runs with the rights of livewell_reader: alter function %s security definer', p_type.gate)
                else 'mend the function' end;
end $$;
