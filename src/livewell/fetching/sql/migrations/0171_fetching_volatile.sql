-- Which fields of rows move while the data stays as it is (when it is from among them): they make no change.
alter type livewell_private.ended_fetch add attribute volatile text[];
