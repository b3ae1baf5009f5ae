-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.count_user_call(p_user text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
    v_limit constant bigint := livewell.setting_integer('presence.checks_per_minute');
begin
    insert into livewell.user_call as c (user_id, minute, calls) values (p_user, date_trunc('minute', p_now), 1)
    on conflict (user_id) do update
    set minute = excluded.minute, calls = case when c.minute = excluded.minute then c.calls + 1 else 1 end
    where c.minute <> excluded.minute or c.calls < v_limit;
    if not found then
        raise exception using errcode = 'LWP05', message = format('more than %s calls in one minute', v_limit),
            hint = 'what is watched is checked without asking; a person may set presence.checks_per_minute';
    end if;
exception when lock_not_available then
    raise exception using errcode = 'LWP08', message = 'another call of yours is in a transaction that stays open', hint = 'end it, or try again';
end $function$;
