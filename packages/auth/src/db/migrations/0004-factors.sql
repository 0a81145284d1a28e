-- Second factors, the challenges they answer, and recovery codes.

create table {ns}.mfa_factors (
  id uuid primary key,
  user_id uuid not null references {ns}.users on delete cascade,
  -- totp, phone, webauthn or recovery_code
  factor_type text not null,
  friendly_name text not null default '',
  -- unverified or verified
  status text not null default 'unverified',
  -- of TOTP: encrypted with the server key factor_secrets
  secret bytea,
  -- of TOTP: the time step of the last code that was accepted, so that no code works twice
  last_used_step bigint,
  -- of a phone factor: digits without +
  phone text,
  -- of WebAuthn: the public key and what belongs to it
  web_authn_credential jsonb,
  web_authn_aaguid uuid,
  -- wrong codes in a row, and until when none is looked at after too many of them
  failed_attempts smallint not null default 0,
  locked_until timestamptz,
  last_challenged_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index mfa_factors_user_id on {ns}.mfa_factors (user_id, created_at);
create unique index mfa_factors_name on {ns}.mfa_factors (user_id, friendly_name)
  where friendly_name <> '';
create unique index mfa_factors_phone on {ns}.mfa_factors (user_id, phone);
create unique index mfa_factors_recovery on {ns}.mfa_factors (user_id)
  where factor_type = 'recovery_code';
create index mfa_factors_unverified on {ns}.mfa_factors (created_at) where status = 'unverified';

create table {ns}.mfa_challenges (
  id uuid primary key,
  factor_id uuid not null references {ns}.mfa_factors on delete cascade,
  -- who asked for it is who must answer
  ip_address text not null,
  -- of a phone factor: HMAC of the digits
  otp_hash bytea,
  -- of WebAuthn: what the authenticator was asked for
  web_authn_data jsonb,
  attempts smallint not null default 0,
  verified_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index mfa_challenges_factor_id on {ns}.mfa_challenges (factor_id);
create index mfa_challenges_expires_at on {ns}.mfa_challenges (expires_at);

create table {ns}.mfa_recovery_codes (
  factor_id uuid not null references {ns}.mfa_factors on delete cascade,
  -- HMAC; nobody who reads the table can use it
  code_hash bytea not null,
  used_at timestamptz,
  primary key (factor_id, code_hash)
);

-- A factor that goes takes the level of its sessions with it.
create index sessions_factor_id on {ns}.sessions (factor_id) where factor_id is not null;
