-- How many sessions, gateways and users at items there are at this moment.
-- for: service
create view livewell.presence_totals as
select
    (select count(*) from livewell_private.session) as sessions,
    (select count(*) from livewell_private.gateway) as gateways,
    (select count(*) from livewell_private.subscription) as subscriptions,
    (select count(*) from livewell_private.item as i where i.watched) as items;
