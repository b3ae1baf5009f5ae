-- How many sessions, gateways and users at items there are at this moment.
-- for: service
create view livewell.presence_totals as
select
    (select count(*) from livewell.session) as sessions,
    (select count(*) from livewell.gateway) as gateways,
    (select count(*) from livewell.subscription) as subscriptions,
    (select count(*) from livewell.item as i where i.watched) as items;
