-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER data_type_is_written AFTER INSERT OR UPDATE ON livewell_private.data_type FOR EACH ROW EXECUTE FUNCTION livewell_private.after_type_written();
