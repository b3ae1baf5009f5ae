-- Makes kinds of jobs as declared, a JSON object of their fields by name; with a plan only, says what it would do and does nothing.
-- What the declaration does not name stays as it is.
-- for: service
create or replace function livewell.apply_kinds(
    p_declared jsonb, p_plan_only boolean default false, p_actor text default session_user,
    p_now timestamptz default clock_timestamp()
) returns table (name text, change text, field text, old jsonb, new jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp set intervalstyle = 'postgres' as $$
#variable_conflict use_column
declare
    v_wanted record;
    v_old livewell_private.job_kind;
begin
    perform livewell_private.require_primary();
    for v_wanted in select d.key as kind, d.value as fields from jsonb_each(p_declared) as d order by d.key loop
        if v_wanted.kind !~ '^[a-z][a-z0-9_.-]{0,99}$' then
            raise exception using errcode = 'LWJ06', message = format('kind %s: its name must be of small letters, digits, ., - and _', v_wanted.kind),
                detail = v_wanted.kind;
        end if;
        select k.* into v_old from livewell_private.job_kind as k where k.kind = v_wanted.kind for update;
        if v_old.kind is null then
            return query select v_wanted.kind, 'add', null::text, null::jsonb, v_wanted.fields;
        else
            return query
            select v_wanted.kind, case when f.key is null then 'same' else 'change' end, f.key, f.old, f.new
            from (values (true)) as one
            left join lateral (
                select n.key, to_jsonb(v_old) -> n.key as old, n.value as new
                from jsonb_each(to_jsonb(jsonb_populate_record(v_old, v_wanted.fields))) as n
                where n.value is distinct from to_jsonb(v_old) -> n.key
            ) as f on true;
        end if;
        if not p_plan_only then
            perform livewell.declare_kinds(jsonb_build_array(v_wanted.fields || jsonb_build_object('kind', v_wanted.kind)), p_actor, p_now);
            perform livewell.set_kind(v_wanted.kind, v_wanted.fields, null, p_actor, p_now);
        end if;
    end loop;
exception
    when check_violation or invalid_text_representation or invalid_datetime_format or numeric_value_out_of_range then
        raise exception using errcode = 'LWJ06', message = format('kind %s cannot be so: %s', v_wanted.kind, sqlerrm), detail = v_wanted.kind;
end $$;
