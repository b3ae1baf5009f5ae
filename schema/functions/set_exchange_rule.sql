-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.set_exchange_rule(p_suffix text, p_exchange text, p_reason text DEFAULT NULL::text, p_actor text DEFAULT SESSION_USER, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_old text;
begin
    perform livewell.require_primary();
    if p_suffix is null or p_suffix !~ '^(\.[A-Z0-9]{1,10})?$' or p_exchange !~ '^[A-Z0-9]{1,20}$' then
        raise exception using errcode = 'LWR06', message = 'a rule is a suffix and the code of an exchange',
            hint = 'as .L and XLON; the empty suffix is for all other keys';
    end if;
    perform livewell.take_lock('exchange_rules');
    select r.exchange into v_old from livewell.exchange_rule as r where r.suffix = p_suffix;
    if v_old is not distinct from p_exchange then
        return false;
    end if;
    delete from livewell.exchange_rule as r where r.suffix = p_suffix;
    insert into livewell.exchange_rule (suffix, exchange) select p_suffix, p_exchange where p_exchange is not null;
    perform livewell.audit_change(
        'exchange_rule_changed', 'exchange_rule', p_suffix, to_jsonb(v_old), to_jsonb(p_exchange), p_reason, p_actor, p_now
    );
    perform livewell.due_now(array(select t.name from livewell.data_type as t where t.gate = 'market_hours'), p_now);
    return true;
end $function$;
