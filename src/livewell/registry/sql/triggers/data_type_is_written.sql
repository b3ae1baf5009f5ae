-- A row is all that a type needs: also one that the owner writes by hand.
create or replace trigger data_type_is_written
after insert or update on livewell_private.data_type
for each row execute function livewell_private.after_type_written();
