-- Counts a call of a user that may lead to refreshes, and refuses it when there were too many in this minute. One row per user:
-- a new minute begins it anew. Who holds it in a transaction that stays open is waited for, two seconds long.
-- for: internal
create or replace function livewell_private.count_user_call(p_user text, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
    v_limit constant bigint := livewell.setting_integer('presence.checks_per_minute');
begin
    insert into livewell_private.user_call as c (user_id, minute, calls) values (p_user, date_trunc('minute', p_now), 1)
    on conflict (user_id) do update
    set minute = excluded.minute, calls = case when c.minute = excluded.minute then c.calls + 1 else 1 end
    where c.minute <> excluded.minute or c.calls < v_limit;
    if not found then
        raise exception using errcode = 'LWP05', message = format('more than %s calls in one minute', v_limit),
            hint = 'what is watched is checked without asking; a person may set presence.checks_per_minute';
    end if;
exception when lock_not_available then
    raise exception using errcode = 'LWP08', message = 'another call of yours is in a transaction that stays open', hint = 'end it, or try again';
end $$;
