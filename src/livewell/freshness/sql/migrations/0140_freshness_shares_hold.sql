-- Rows that were there before hold to it, too; nobody is kept out while that is looked at.
alter table livewell_private.item validate constraint item_uncounted_are_viewers;
