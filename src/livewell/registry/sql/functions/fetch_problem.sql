-- Why a type cannot be fetched as it says, as far as the database can tell; null when it can. What is in a template, a field or a
-- model is judged by the programs that fetch.
-- for: internal
create or replace function livewell_private.fetch_problem(p_type livewell_private.data_type) returns text
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case
        when jsonb_typeof((p_type).fetch_call) <> 'object' then 'fetch must be an object, with the path that is asked for: write fetch = { path = "/quote/{key}" }'
        when jsonb_typeof((p_type).fields) <> 'object' then 'fields must be an object: what each holds, by name'
        when (p_type).extra is null or (p_type).extra not in ('refuse', 'ignore') then 'extra must be refuse or ignore'
        when (p_type).fetch_call is not null and coalesce((p_type).fetch_call ->> 'path', '') !~ '^/'
            then 'fetch.path must begin with /: write fetch.path = "/quote/{key}"'
        when (p_type).fetch_call is not null
            and concat((p_type).fetch_call ->> 'path', (p_type).fetch_call ->> 'query') !~ '\{keys?\}'
            then 'fetch.path or fetch.query must have {key} or {keys}: write fetch.path = "/quote/{key}"'
        when (p_type).fetch_call is not null and (p_type).keys_per_request > 1
            and (concat((p_type).fetch_call ->> 'path', (p_type).fetch_call ->> 'query') !~ '\{keys\}' or (p_type).fetch_call ->> 'key' is null)
            then 'several keys per request need {keys}, and fetch.key: the field that says whose a row is; write fetch.key = "symbol"'
        when (p_type).fetch_call is not null and (p_type).fields is null and (p_type).model is null
            then 'fetch needs fields, or a model: what does an answer hold? write fields.price = { type = "number" }'
        when (p_type).fields is not null and (p_type).model is not null then 'fields and model say the same: name one of them'
    end
$$;
