-- Why a type cannot be so, whatever else there is in the database, in words that name the field; null when it can.
-- for: internal
create or replace function livewell_private.type_problem(p_type livewell_private.data_type) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_problem text := livewell_private.type_name_problem(p_type);
begin
    if v_problem is not null then
        return v_problem;
    end if;
    if p_type.key_pattern is null or p_type.key_pattern !~ '^\^.*[$]$' then
        return 'key_pattern must describe the whole key: from ^ to $';
    end if;
    perform '' ~ p_type.key_pattern;
    v_problem := livewell_private.pattern_problem(p_type.key_pattern);
    if v_problem is not null then
        return format('key_pattern %s', v_problem);
    end if;
    return coalesce(livewell_private.fetch_problem(p_type), case
        when p_type.name !~ '^[a-z][a-z0-9_-]{0,62}$' then 'its name must be of small letters, digits, - and _, at most 63'
        when p_type.endpoint is null then 'endpoint is missing: where is it fetched from? write endpoint = "PROVIDER/NAME"'
        when p_type.ttl is null then 'ttl is missing: how old may it be? There is no default: write ttl = "1 minute"'
        when not (p_type.ttl > interval '0' and p_type.ttl <= interval '10 years') then 'ttl must be above 0, at most 10 years'
        when p_type.queue_group !~ '^[a-z][a-z0-9_.-]{0,99}$' then 'group must be of small letters, digits, ., - and _'
        when p_type.table_name is null and num_nonnulls(p_type.key_column, p_type.time_column, p_type.ttl_column, p_type.source_time_column) > 0
            then 'columns are those of a table: name it, or leave them out'
        when p_type.table_name is not null and num_nulls(p_type.key_column, p_type.time_column) > 0
            then 'a table needs key_column and time_column: write key_column = "symbol" and time_column = "fetched_at", as they are called'
        when split_part(p_type.table_name, '.', 1) in ('livewell', 'livewell_private')
            or split_part(p_type.keys_table, '.', 1) in ('livewell', 'livewell_private')
            then 'the tables of livewell are its own: leave table out to have it keep the data'
        when split_part(p_type.staleness, '.', 1) in ('livewell', 'livewell_private') and p_type.staleness <> 'livewell.is_stale'
            then 'staleness must be livewell.is_stale or a function of your own'
        when split_part(p_type.gate, '.', 1) in ('livewell', 'livewell_private') then 'gate must be always, market_hours or a function of your own'
        when p_type.strategy is null or p_type.strategy not in ('on_demand', 'scheduled', 'both')
            then 'strategy must be on_demand, scheduled or both'
        when p_type.strategy = 'on_demand' and p_type.cron is not null
            then 'a cron expression goes with strategy scheduled or both: write strategy = "both"'
        when p_type.strategy <> 'on_demand' and p_type.cron is null then format('strategy %s needs a cron expression: write cron = "0 6 * * *"', p_type.strategy)
        when p_type.priority_floor is null or p_type.priority_floor not between 0 and 999 then 'floor must be from 0 to 999'
        when p_type.expected_bytes <= 0 then 'bytes must be above 0'
        when p_type.source_rule not in ('newer', 'not_older') then 'source_time.rule must be newer or not_older'
        when p_type.keys_per_request is null or p_type.keys_per_request not between 1 and 1000
            then 'keys_per_request must be from 1 to 1000'
        when p_type.value_rule is null or p_type.value_rule not in ('contract', 'observed')
            then 'value_rule must be contract or observed'
        when p_type.read_rule is null or p_type.read_rule not in ('nobody', 'signed_in', 'public', 'claim', 'function', 'rls')
            then 'read must be nobody, signed_in, public, rls, a claim or a function'
        when p_type.read_rule = 'claim' and (
            coalesce(length(p_type.read_claim), 0) not between 1 and 100 or p_type.read_claim ~ livewell_private.strange_characters()
        ) then 'read.claim must name a claim: read = { claim = "tenant", equals = "key" }'
        when p_type.read_rule = 'claim'
            and coalesce(p_type.read_equals, '') !~ '^(key|column:[A-Za-z_][A-Za-z0-9_]{0,62}|value:.{1,200})$'
            then 'read.equals must be "key", "column:NAME" or "value:TEXT"'
        when p_type.read_rule <> 'claim' and num_nonnulls(p_type.read_claim, p_type.read_equals) > 0
            then 'read.claim and read.equals are for read = { claim = …, equals = … }'
        when (p_type.read_rule = 'function') <> (p_type.read_function is not null)
            then 'read.function must be SCHEMA.NAME, and is for read = { function = … }'
        when split_part(p_type.read_function, '.', 1) in ('livewell', 'livewell_private') then 'read.function must be a function of your own'
        when p_type.read_rule = 'rls' and p_type.table_name is null
            then 'read = "rls" is for a table of your own: name it, or say who reads in another way'
        when cardinality(p_type.read_claims) > 20 or exists (
            select from unnest(p_type.read_claims) as c (claim)
            where coalesce(length(c.claim), 0) not between 1 and 100 or c.claim ~ livewell_private.strange_characters()
        ) then 'read_claims must be at most 20 names of claims'
        when p_type.keys_only_known is null then 'keys.only_known must be true or false'
        when p_type.keys_table is null and num_nonnulls(p_type.keys_key_column, p_type.keys_active_column, p_type.keys_exchange_column) > 0
            then 'the columns of keys are those of a table: name keys.table, or leave them out'
        when p_type.keys_table is not null and p_type.keys_key_column is null then 'keys.table needs keys.column: write keys.column = "symbol", as it is called'
    end);
exception
    when invalid_regular_expression then
        return 'key_pattern is no regular expression';
end $$;
