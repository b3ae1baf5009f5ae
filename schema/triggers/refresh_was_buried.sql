-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER refresh_was_buried AFTER INSERT ON livewell.job_failed FOR EACH ROW WHEN ((new.kind ~~ 'refresh.%'::text)) EXECUTE FUNCTION livewell.refresh_ended();
