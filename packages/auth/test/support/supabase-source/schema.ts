import type { Client } from 'pg'

/** The oldest and the newest release of Supabase Auth that can be imported. */
export const sourceReleases = {
  '2.150': { lastMigration: '20240314092811' },
  '2.196': { lastMigration: '20260625000000' },
} as const
export type SourceRelease = keyof typeof sourceReleases

/** Creates the tables that the import reads, with the columns of a release. */
export async function createSourceSchema(
  client: Client,
  schema: string,
  release: SourceRelease,
): Promise<void> {
  const isNew = release === '2.196'
  const inNew = (text: string) => (isNew ? text : '')
  await client.query(`
    create schema ${schema};
    set search_path = ${schema};
    create table schema_migrations (version varchar(255) primary key);
    insert into schema_migrations values
      ('00'), ('20221003041349'), ('${sourceReleases[release].lastMigration}');
    create type factor_type as enum ('totp', 'webauthn' ${inNew(`, 'phone'`)});
    create type factor_status as enum ('unverified', 'verified');
    create type aal_level as enum ('aal1', 'aal2', 'aal3');
    create table users (
      instance_id uuid, id uuid primary key, aud varchar(255), role varchar(255),
      email varchar(255), encrypted_password varchar(500), email_confirmed_at timestamptz,
      invited_at timestamptz, confirmation_token varchar(255), confirmation_sent_at timestamptz,
      recovery_token varchar(255), recovery_sent_at timestamptz,
      email_change_token_new varchar(255), email_change varchar(255),
      email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb,
      raw_user_meta_data jsonb, is_super_admin boolean, created_at timestamptz,
      updated_at timestamptz, phone text unique, phone_confirmed_at timestamptz,
      phone_change text default '', phone_change_token varchar(255) default '',
      phone_change_sent_at timestamptz, email_change_token_current varchar(255) default '',
      email_change_confirm_status smallint default 0, banned_until timestamptz,
      reauthentication_token varchar(255) default '', reauthentication_sent_at timestamptz,
      is_sso_user boolean not null default false, deleted_at timestamptz,
      is_anonymous boolean not null default false
    );
    create unique index on users (email) where not is_sso_user;
    create table identities (
      id uuid primary key default gen_random_uuid(), provider_id text not null,
      user_id uuid not null references users on delete cascade, identity_data jsonb not null,
      provider text not null, last_sign_in_at timestamptz, created_at timestamptz,
      updated_at timestamptz, unique (provider_id, provider)
    );
    create table mfa_factors (
      id uuid primary key, user_id uuid not null references users on delete cascade,
      friendly_name text, factor_type factor_type not null, status factor_status not null,
      created_at timestamptz not null, updated_at timestamptz not null, secret text
      ${inNew(`, phone text, last_challenged_at timestamptz, web_authn_credential jsonb,
        web_authn_aaguid uuid, last_webauthn_challenge_data jsonb`)}
    );
    create table sessions (
      id uuid primary key, user_id uuid not null references users on delete cascade,
      created_at timestamptz, updated_at timestamptz, factor_id uuid, aal aal_level,
      not_after timestamptz, refreshed_at timestamp, user_agent text, ip inet, tag text
      ${inNew(`, oauth_client_id uuid, refresh_token_hmac_key text, refresh_token_counter bigint,
        scopes text`)}
    );
    create table refresh_tokens (
      instance_id uuid, id bigserial primary key, token varchar(255) unique,
      user_id varchar(255), revoked boolean, created_at timestamptz, updated_at timestamptz,
      parent varchar(255), session_id uuid references sessions on delete cascade
    );
    create index on refresh_tokens (session_id, revoked);
    create table mfa_amr_claims (
      id uuid primary key default gen_random_uuid(),
      session_id uuid not null references sessions on delete cascade,
      created_at timestamptz not null, updated_at timestamptz not null,
      authentication_method text not null, unique (session_id, authentication_method)
    );
    create table flow_state (id uuid primary key, auth_code text);
    insert into flow_state values (gen_random_uuid(), 'code');
    create table audit_log_entries (id uuid primary key, payload json, created_at timestamptz);
    insert into audit_log_entries values (gen_random_uuid(), '{}', now());
    ${inNew(`
      create table one_time_tokens (id uuid primary key, user_id uuid, token_hash text);
      insert into one_time_tokens values (gen_random_uuid(), gen_random_uuid(), 'hash');
      create table webauthn_credentials (
        id uuid primary key, user_id uuid not null references users on delete cascade,
        credential_id bytea not null unique, public_key bytea not null,
        attestation_type text not null default '', aaguid uuid, sign_count bigint not null,
        transports jsonb not null default '[]', backup_eligible boolean not null,
        backed_up boolean not null, friendly_name text not null default '',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(), last_used_at timestamptz
      );
      create type oauth_client_type as enum ('public', 'confidential');
      create table oauth_clients (
        id uuid primary key, client_secret_hash text, registration_type text not null,
        redirect_uris text not null, grant_types text not null, client_name text,
        client_uri text, logo_uri text, created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(), deleted_at timestamptz,
        client_type oauth_client_type not null default 'confidential',
        token_endpoint_auth_method text not null
      );`)}`)
}
