-- Whoever proves to own an address owns its account. Until then the account may hold what somebody else
-- put there by signing up with the address.
alter table {ns}.one_time_tokens
  -- What the request that the token was sent for says about the account: {"hash", "data",
  -- "identity_id"}, each optional. The first proof replaces password and metadata by it. Null: the
  -- account stays as it is. `voids_password` is no longer read.
  add column claim jsonb;
update {ns}.one_time_tokens set claim = '{}' where voids_password;

alter table {ns}.users
  -- What an administrator set before anybody proved to own the account, and what therefore survives
  -- the first proof: {"password": true, "user_metadata": {}}. Null once it is proven.
  add column admin_data jsonb;
update {ns}.users set admin_data = jsonb_build_object('user_metadata', raw_user_meta_data)
where invited_at is not null and email_confirmed_at is null and phone_confirmed_at is null;
