-- What a gateway allows one address and one user.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, less_than, description)
values
('live.connections_per_address', 'integer', '1000', '1000', '1', '1000000', null,
 'How many connections one address may have at one gateway.'),
('live.connections_per_user', 'integer', '50', '50', '1', '100000', null,
 'How many connections one user may have at one gateway.');
