-- OAuth clients that administrators have registered.
create table {ns}.oauth_clients (
  id uuid primary key,
  client_type text not null check (client_type in ('confidential', 'public')),
  -- SHA-256 of the secret. A public client has none, because it cannot keep one.
  secret_hash bytea check ((secret_hash is null) = (client_type = 'public')),
  token_endpoint_auth_method text not null,
  redirect_uris jsonb not null,
  grant_types jsonb not null,
  -- Empty if not given.
  client_name text not null,
  client_uri text not null,
  logo_uri text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index oauth_clients_created_at on {ns}.oauth_clients (created_at, id);
