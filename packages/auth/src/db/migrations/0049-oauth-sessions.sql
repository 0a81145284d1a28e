-- Apart from 0050, whose foreign keys lock the users: a transaction that locks both tables could cause deadlocks
-- with requests.

-- Sessions of OAuth clients: only this client can refresh them. Null for all other sessions.
-- The grant has the client's public identifier, the scope and the resource, for the claims of access tokens.
alter table {ns}.sessions
  add column oauth_client_id uuid,
  add column oauth_grant jsonb;
