-- Identity providers of companies, whose users sign in with SAML.
create table {ns}.sso_providers (
  id uuid primary key,
  -- Chosen by the administrator; a second name for the id.
  resource_id text,
  disabled boolean,
  entity_id text not null,
  metadata_xml text not null,
  -- Where the metadata is read again. Null: the administrator uploads it.
  metadata_url text,
  metadata_read_at timestamptz not null,
  attribute_mapping jsonb not null,
  -- Null: persistent.
  name_id_format text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index sso_providers_entity_id on {ns}.sso_providers (entity_id);
create unique index sso_providers_resource_id on {ns}.sso_providers (lower(resource_id));
create index sso_providers_created_at on {ns}.sso_providers (created_at, id);

-- The email domains whose users sign in with a provider, in lower case.
create table {ns}.sso_domains (
  domain text primary key,
  sso_provider_id uuid not null references {ns}.sso_providers on delete cascade,
  created_at timestamptz not null
);
create index sso_domains_provider on {ns}.sso_domains (sso_provider_id);

-- Assertions that have been used, until they expire.
create table {ns}.saml_assertions (
  sso_provider_id uuid not null references {ns}.sso_providers on delete cascade,
  -- SHA-256 of the ID, which may be long.
  id_hash bytea not null,
  expires_at timestamptz not null,
  primary key (sso_provider_id, id_hash)
);
create index saml_assertions_expires_at on {ns}.saml_assertions (expires_at);

-- When the session that a flow opens must end at the latest.
alter table {ns}.flow_states add column session_not_after timestamptz;
