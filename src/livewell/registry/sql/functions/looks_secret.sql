-- Whether a header or a parameter of a query that is written down looks like a secret: by its name, by what secrets begin with,
-- or because letters and digits change in it as they do by chance and never in words, lists of fields, dates and versions.
-- What is filled in for each request ({key}) is none.
-- for: internal
create or replace function livewell_private.looks_secret(p_name text, p_value text) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    with said as (
        select lower(regexp_replace(p_name, '[^A-Za-z0-9]', '', 'g')) as name,
            btrim(regexp_replace(p_value, '\{keys?\}', '', 'g')) as value
    )
    select
        s.name ~ '^(proxy)?authorization$' and s.value <> ''
        or s.value ~* '^(bearer|basic|token|apikey|api-key|key|digest|hmac|negotiate)[ :=]+\S{6,}$'
        or s.name ~ '(apikey|appkey|authkey|accesskey|secretkey|privatekey|subscriptionkey|secret|password|passwd|token|appid|credentials?)$'
            and length(s.value) >= 6 and s.value !~ '^[a-z]+$'
        or s.name ~ '^(x?key|x?auth|sig|signature|pwd|pass)$' and length(s.value) >= 12 and s.value ~ '[0-9]' and s.value ~ '[A-Za-z]'
            and s.value !~ '[\s,]'
        or s.value ~ '(^|[\s=:;,])(sk|pk|rk)[-_](live|test|proj|ant)?[-_A-Za-z0-9]{12,}'
        or s.value ~ '(^|[\s=:;,])(gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|SG\.|hf_|npm_|dop_v1_|shp(at|ss)_)[A-Za-z0-9._-]{12,}'
        or s.value ~ 'eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.' or s.value ~ '-----BEGIN ' or s.value ~ '://[^/\s:@]+:[^/\s@]+@'
        or s.value ~* '(api_?key|access_?token|client_?secret|password)=[^\s&]{6,}'
        or exists (
            select from regexp_split_to_table(s.value, '[^A-Za-z0-9]+') as piece
            cross join lateral (
                select
                    regexp_count(piece, '[0-9](?=[A-Za-z])') + regexp_count(piece, '[A-Za-z](?=[0-9])') as turns,
                    regexp_count(piece, '[a-z](?=[A-Z])') + regexp_count(piece, '[A-Z](?=[a-z])') as bends
            ) as c
            where length(piece) >= 16 and (
                c.turns >= 4 and c.turns >= 0.15 * (length(piece) - 1)
                or c.turns >= 1 and c.turns + c.bends >= 0.5 * (length(piece) - 1)
            )
        )
    from said as s
$$;
