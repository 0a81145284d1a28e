-- Requests of OAuth clients, and what users have granted to them.

-- The scopes that the client may request, separated by spaces. Empty: all.
alter table {ns}.oauth_clients add column scope text not null default '';

-- A request from /oauth/authorize until its code has been exchanged.
create table {ns}.oauth_authorizations (
  id text primary key,
  client_id uuid not null references {ns}.oauth_clients (id) on delete cascade,
  -- The first user who opens the request; no other user can decide about it.
  user_id uuid references {ns}.users (id) on delete cascade,
  status text not null default 'pending'
    check (status in ('pending', 'approved', 'denied', 'exchanged')),
  redirect_uri text not null,
  scope text not null,
  -- Empty if not given.
  state text not null,
  nonce text not null,
  resource text not null,
  code_challenge text not null,
  prompt text not null,
  -- In seconds.
  max_age integer,
  -- SHA-256 of the authorization code.
  code_hash bytea unique,
  -- How the user had signed in when they approved the request.
  aal text,
  amr jsonb,
  auth_time timestamptz,
  -- The session that was opened with the code. It ends if the code is used again.
  session_id uuid,
  created_at timestamptz not null,
  -- Of the request; after the approval, of the code.
  expires_at timestamptz not null
);
create index oauth_authorizations_expires_at on {ns}.oauth_authorizations (expires_at);
create index oauth_authorizations_client on {ns}.oauth_authorizations (client_id);
create index oauth_authorizations_user on {ns}.oauth_authorizations (user_id);

-- What a user has granted to a client for a resource, which is empty for requests without one. A request that
-- asks for no more needs no further consent.
create table {ns}.oauth_consents (
  user_id uuid not null references {ns}.users (id) on delete cascade,
  client_id uuid not null references {ns}.oauth_clients (id) on delete cascade,
  resource text not null,
  scopes jsonb not null,
  granted_at timestamptz not null,
  primary key (user_id, client_id, resource)
);
create index oauth_consents_client on {ns}.oauth_consents (client_id);
