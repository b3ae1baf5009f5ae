-- squawk-ignore-file renaming-column, renaming-table, renaming-object
-- Each word with one meaning: what a job is waiting for (its time, its serial key), who is a passenger of another's request, and
-- which rows were found locked by somebody.
alter table livewell_private.job rename column held to waiting_for;
alter table livewell_private.job rename column rides to is_passenger;
alter type livewell_private.spent_call rename attribute rides to is_passenger;
alter table livewell_private.held_row rename to locked_row;
alter table livewell_private.locked_row rename constraint held_row_pkey to locked_row_pkey;
alter index livewell_private.held_row_by_row rename to locked_row_by_row;
alter sequence livewell_private.held_row_id_seq rename to locked_row_id_seq;
