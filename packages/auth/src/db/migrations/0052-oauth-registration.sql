-- How a client was registered: by an administrator, or by itself (RFC 7591).
alter table {ns}.oauth_clients
  add column registration_type text not null default 'manual'
    check (registration_type in ('manual', 'dynamic')),
  -- SHA-256 of the token with which a client manages its own registration (RFC 7592).
  add column registration_token_hash bytea,
  -- The secret before the last replacement, for the time in which a client changes to the new one.
  add column previous_secret_hash bytea,
  add column previous_secret_expires_at timestamptz;

-- A request that a client has pushed (RFC 9126) waits for the browser that starts it.
alter table {ns}.oauth_authorizations drop constraint oauth_authorizations_status_check;
alter table {ns}.oauth_authorizations add constraint oauth_authorizations_status_check
  check (status in ('pushed', 'pending', 'approved', 'denied', 'exchanged')) not valid;
