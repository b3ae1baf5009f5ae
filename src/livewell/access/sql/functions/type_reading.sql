-- How a type is read for viewers: its rule, the claims they are told apart by, its revision, and how many keys
-- one call reads, and how many rows of each. A claim
-- that must equal something is always among them; a rule that asks for none has none; else null: all but those of the token itself.
-- for: service
create or replace function livewell.type_reading(
    p_type text, out rule text, out claims text[], out revision timestamptz, out keys_at_once integer,
    out rows_per_key bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_type(p_type);
    select t.read_rule, case
        when t.read_rule = 'claim' then array(select distinct c.claim from unnest(t.read_claims || t.read_claim) as c (claim) order by c.claim)
        when t.read_claims is null and t.read_rule in ('nobody', 'public', 'signed_in') then '{}'
        else t.read_claims
    end, t.updated_at, livewell_private.keys_at_once(p_type),
        livewell.setting_integer('fetching.rows_per_key')
    into rule, claims, revision, keys_at_once, rows_per_key
    from livewell_private.known_types as t where t.name = p_type;
end $$;
