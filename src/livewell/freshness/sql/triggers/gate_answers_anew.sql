-- What is watched behind a gate that answers otherwise now is checked again.
create or replace trigger gate_answers_anew
after insert or update on livewell.gate_change
for each row execute function livewell.watched_are_due();
