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
    create table sso_providers (
      id uuid primary key, resource_id text, created_at timestamptz, updated_at timestamptz
      ${inNew(', disabled boolean')}
    );
    create unique index on sso_providers (lower(resource_id));
    create table sso_domains (
      id uuid primary key, sso_provider_id uuid not null references sso_providers on delete cascade,
      domain text not null, created_at timestamptz, updated_at timestamptz
    );
    create unique index on sso_domains (lower(domain));
    create table saml_providers (
      id uuid primary key, sso_provider_id uuid not null references sso_providers on delete cascade,
      entity_id text not null unique, metadata_xml text not null, metadata_url text,
      attribute_mapping jsonb, name_id_format text, created_at timestamptz, updated_at timestamptz
    );
    create table saml_relay_states (
      id uuid primary key, sso_provider_id uuid not null references sso_providers on delete cascade,
      request_id text not null
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
      create type oauth_registration_type as enum ('dynamic', 'manual');
      create table oauth_clients (
        id uuid primary key, client_secret_hash text,
        registration_type oauth_registration_type not null,
        redirect_uris text not null, grant_types text not null, client_name text,
        client_uri text, logo_uri text, created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(), deleted_at timestamptz,
        client_type oauth_client_type not null default 'confidential',
        token_endpoint_auth_method text not null
      );
      alter table sessions add foreign key (oauth_client_id) references oauth_clients
        on delete cascade;
      create table oauth_consents (
        id uuid primary key, user_id uuid not null references users on delete cascade,
        client_id uuid not null references oauth_clients on delete cascade,
        scopes text not null check (char_length(trim(scopes)) > 0),
        granted_at timestamptz not null default now(), revoked_at timestamptz,
        unique (user_id, client_id), check (revoked_at is null or revoked_at >= granted_at)
      );
      create table custom_oauth_providers (
        id uuid primary key, provider_type text not null check (provider_type in ('oauth2', 'oidc')),
        identifier text not null unique, name text not null, client_id text not null,
        client_secret text not null, acceptable_client_ids text[] not null default '{}',
        scopes text[] not null default '{}', pkce_enabled boolean not null default true,
        attribute_mapping jsonb not null default '{}',
        authorization_params jsonb not null default '{}', enabled boolean not null default true,
        email_optional boolean not null default false, issuer text, discovery_url text,
        skip_nonce_check boolean not null default false, cached_discovery jsonb,
        discovery_cached_at timestamptz, authorization_url text, token_url text, userinfo_url text,
        jwks_uri text, created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        custom_claims_allowlist text[] not null default '{}'
      );`)}`)
}
