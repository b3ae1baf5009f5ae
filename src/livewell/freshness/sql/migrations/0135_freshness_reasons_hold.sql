-- Rows that were there before hold to it, too; nobody is kept out while that is looked at.
alter table livewell_private.item validate constraint item_reason_is_short;
alter table livewell_private.item validate constraint item_failed_refreshes_are_not_negative;
