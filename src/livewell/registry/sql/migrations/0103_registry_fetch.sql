-- How a type is fetched and what its answers hold, as it was declared; and whether fields nobody declared refuse an answer.
alter table livewell_private.data_type add column fetch_call jsonb;
alter table livewell_private.data_type add column fields jsonb;
alter table livewell_private.data_type add column extra text not null default 'refuse';
alter table livewell_private.data_type add constraint type_fetch_is_a_table check (
    jsonb_typeof(fetch_call) = 'object' and jsonb_typeof(fields) = 'object'
) not valid;
alter table livewell_private.data_type add constraint type_extra_is_known check (extra in ('refuse', 'ignore')) not valid;
