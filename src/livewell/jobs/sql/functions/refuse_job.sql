-- Raises the fact of what is wrong with one job of a batch, with its position and the fix.
-- for: internal
create or replace function livewell_private.refuse_job(p_job jsonb, p_position integer) returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_kind text := p_job ->> 'kind';
    v_extra text;
begin
    if jsonb_typeof(p_job) <> 'object' then
        raise exception using errcode = 'LWJ03', message = format('job %s is not a JSON object', p_position);
    end if;
    if not exists (select from livewell_private.job_kind as k where k.kind = v_kind) then
        raise exception using errcode = 'LWJ02', message = format('job %s: unknown kind %s', p_position, coalesce(left(v_kind, 200), '(none)')),
            hint = 'livewell kinds list; a program declares its own with @app.job, SQL with livewell.declare_kinds';
    end if;
    select f.field into v_extra from jsonb_object_keys(p_job) as f (field) where not f.field = any (livewell_private.job_fields());
    if found then
        raise exception using errcode = 'LWJ03', message = format('job %s: unknown field "%s"', p_position, left(v_extra, 200)),
            hint = 'known fields: ' || array_to_string(livewell_private.job_fields(), ', ');
    end if;
    if jsonb_typeof(p_job -> 'payload') is distinct from 'object' or p_job -> 'payload' = '{}' then
        raise exception using errcode = 'LWJ05',
            message = format('job %s (%s): its payload must be a JSON object with at least one field', p_position, v_kind);
    end if;
    if length(p_job ->> 'dedupe_key') > 500 or length(p_job ->> 'serial_key') > 500 or length(p_job ->> 'category') > 100 then
        raise exception using errcode = 'LWJ03', message = format('job %s (%s): a key of more than 500 characters, or a category of more than 100', p_position, v_kind),
            hint = 'a hash of what is long is as good a key';
    end if;
    raise exception using errcode = 'LWJ03', message = format('job %s (%s): a key must not be empty', p_position, v_kind),
        hint = 'leave it out instead';
end $$;
