-- What was only held for new rows holds for all of them; reading them locks out no reader and no writer.
alter table livewell_private.data_type validate constraint type_fetch_is_a_table;
alter table livewell_private.data_type validate constraint type_extra_is_known;
alter table livewell_private.data_type validate constraint type_read_rule_is_known;
