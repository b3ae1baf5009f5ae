-- The rules of 0101 hold for what is there: every type was read by nobody, the signed in or everybody.
alter table livewell_private.data_type validate constraint type_read_rule_is_known;
alter table livewell_private.data_type validate constraint type_claim_equals_something;
alter table livewell_private.data_type validate constraint type_equals_is_known;
alter table livewell_private.data_type validate constraint type_read_function_is_one_of_a_schema;
