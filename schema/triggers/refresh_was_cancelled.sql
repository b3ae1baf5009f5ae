-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER refresh_was_cancelled AFTER INSERT ON livewell_private.job_done FOR EACH ROW WHEN (((new.state = 'cancelled'::text) AND (new.kind ~~ 'refresh.%'::text))) EXECUTE FUNCTION livewell_private.cancelled_refresh_ended();
