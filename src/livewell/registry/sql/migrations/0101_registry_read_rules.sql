-- Who reads a type, said by a claim, by a function of the user's, or by the row-level security of the user's own table: `read_claim`
-- must equal `read_equals` (the key, a column of the row, or a value), `read_function` answers which keys may be read. `read_claims`
-- are the claims that whoever reads is told apart by; null: those that the rule asks for.
alter table livewell_private.data_type
add column read_claim text,
add column read_equals text,
add column read_function text,
add column read_claims text[];

-- A wider one follows in the same transaction.
-- squawk-ignore ban-drop-constraint
alter table livewell_private.data_type drop constraint type_read_rule_is_known;

alter table livewell_private.data_type
add constraint type_read_rule_is_known
check (read_rule in ('nobody', 'signed_in', 'public', 'claim', 'function', 'rls')) not valid,
add constraint type_claim_equals_something
check ((read_rule = 'claim') = (read_claim is not null) and (read_rule = 'claim') = (read_equals is not null)) not valid,
add constraint type_equals_is_known
check (read_equals ~ '^(key|column:[A-Za-z_][A-Za-z0-9_]{0,62}|value:.{1,200})$') not valid,
add constraint type_read_function_is_one_of_a_schema
check (
    (read_rule = 'function') = (read_function is not null)
    and read_function ~ '^[A-Za-z_][A-Za-z0-9_]{0,62}\.[A-Za-z_][A-Za-z0-9_]{0,62}$'
) not valid;
