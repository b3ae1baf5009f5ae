-- What is shared with whom, by whom and since when.
-- for: service
create view livewell.shares as
select h.subject, h.user_id, h.rights, h.shared_by, h.since from livewell_private.share as h;
