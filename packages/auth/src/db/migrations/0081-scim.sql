-- Tokens with which identity providers manage the users of their company.
create table {ns}.scim_tokens (
  id uuid primary key,
  sso_provider_id uuid not null references {ns}.sso_providers on delete cascade,
  -- SHA-256 of the token, which has 256 random bits.
  token_hash bytea not null,
  created_at timestamptz not null
);
create unique index scim_tokens_hash on {ns}.scim_tokens (token_hash);
create index scim_tokens_provider on {ns}.scim_tokens (sso_provider_id);

create table {ns}.scim_users (
  user_id uuid primary key references {ns}.users on delete cascade,
  sso_provider_id uuid not null references {ns}.sso_providers on delete cascade,
  user_name text not null,
  external_id text,
  active boolean not null,
  -- Everything else that the identity provider sent, in the form of RFC 7643.
  attributes jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Kept, so that the user is banned for as long as the provider does not send it again.
  deleted_at timestamptz
);
create unique index scim_users_name on {ns}.scim_users (sso_provider_id, lower(user_name));
create index scim_users_external_id on {ns}.scim_users (sso_provider_id, external_id);
create index scim_users_created_at on {ns}.scim_users (sso_provider_id, created_at, user_id);

create table {ns}.scim_groups (
  id uuid primary key,
  sso_provider_id uuid not null references {ns}.sso_providers on delete cascade,
  display_name text not null,
  external_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_groups_name on {ns}.scim_groups (sso_provider_id, lower(display_name));

create table {ns}.scim_members (
  group_id uuid not null references {ns}.scim_groups on delete cascade,
  user_id uuid not null references {ns}.scim_users on delete cascade,
  primary key (group_id, user_id)
);
create index scim_members_user on {ns}.scim_members (user_id);
