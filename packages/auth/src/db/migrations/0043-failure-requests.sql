-- The latest request of a failed sign-in, by which the log of the server is searched. Empty where it is unknown:
-- servers of the previous release do not write it.
alter table {ns}.sign_in_failures
  add column user_agent text not null default '',
  add column request_id text not null default '';
