-- Sign-in providers that administrators have registered.
create table {ns}.custom_providers (
  id uuid primary key,
  -- custom:NAME, which is also the provider of its identities.
  identifier text not null unique,
  -- The fields that administrators can read.
  settings jsonb not null,
  -- The client secret, encrypted like the secrets of second factors, for this id.
  secret bytea not null,
  -- The document of OpenID Connect Discovery; null for a provider of plain OAuth 2.0.
  discovery jsonb,
  discovered_at timestamptz,
  -- Increases with each change of the settings.
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
