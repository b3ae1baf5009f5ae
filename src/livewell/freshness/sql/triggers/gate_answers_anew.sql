-- What is watched behind a gate that answers otherwise now is checked again.
create or replace trigger gate_answers_anew
after insert or update on livewell_private.gate_change
for each row execute function livewell_private.watched_behind_gate_are_due();
