-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_foreign(p_function text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if not exists (
        select from pg_catalog.pg_proc as p
        where p.proname = p_function and p.pronamespace = 'livewell'::regnamespace and p.prosecdef
            and p.proowner in ('livewell_reader'::regrole, 'livewell_writer'::regrole)
    ) then
        raise insufficient_privilege using message = format('livewell.%s is not as Livewell made it', p_function),
            hint = 'livewell migrate puts it back; the audit log and pg_auth_members show who had a hand in it';
    end if;
end $function$;
