-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE TRIGGER audit_seal_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON livewell_private.audit_seal FOR EACH STATEMENT EXECUTE FUNCTION livewell_private.refuse_audit_change();
ALTER TABLE livewell_private.audit_seal ENABLE ALWAYS TRIGGER audit_seal_is_append_only;
