-- Who may read what is stored of a type, besides the service: nobody, whoever is signed in, or everybody.
alter table livewell_private.data_type add column read_rule text not null default 'nobody';
alter table livewell_private.data_type add constraint type_read_rule_is_known check (read_rule in ('nobody', 'signed_in', 'public')) not valid;
