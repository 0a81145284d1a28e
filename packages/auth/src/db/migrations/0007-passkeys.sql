-- Passkeys, and what authenticators are asked to sign.

create table {ns}.webauthn_credentials (
  id uuid primary key,
  user_id uuid not null references {ns}.users on delete cascade,
  -- as the authenticator calls it
  credential_id bytea not null,
  -- in the form of COSE
  public_key bytea not null,
  -- signatures so far, as far as the authenticator counts them; a copy of it falls behind
  sign_count bigint not null default 0,
  transports jsonb not null default '[]',
  -- the model of the authenticator; zeros where it does not tell
  aaguid uuid not null,
  -- whether it can leave its device, and whether it has
  is_syncable boolean not null,
  is_backed_up boolean not null,
  friendly_name text not null,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index webauthn_credentials_credential_id
  on {ns}.webauthn_credentials (credential_id);
create index webauthn_credentials_user_id on {ns}.webauthn_credentials (user_id, created_at);

create table {ns}.webauthn_challenges (
  id uuid primary key,
  -- registration, of a user; or authentication, of anybody
  ceremony text not null,
  user_id uuid references {ns}.users on delete cascade,
  challenge text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index webauthn_challenges_user_id on {ns}.webauthn_challenges (user_id)
  where user_id is not null;
create index webauthn_challenges_expires_at on {ns}.webauthn_challenges (expires_at);
