-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER gate_answers_anew AFTER INSERT OR UPDATE ON livewell_private.gate_change FOR EACH ROW EXECUTE FUNCTION livewell_private.watched_behind_gate_are_due();
