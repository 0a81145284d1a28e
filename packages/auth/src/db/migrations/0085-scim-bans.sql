-- Until when an administrator had banned a user whom the identity provider then deactivated, so that
-- activation does not end that ban.
alter table {ns}.scim_users add column banned_before timestamptz;
