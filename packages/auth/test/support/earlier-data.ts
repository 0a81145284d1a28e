import { createHash } from 'node:crypto'
import { hash } from '@node-rs/bcrypt'
import type { Client } from 'pg'
import { createRefreshTokens } from '../../src/features/sessions/refresh-tokens.ts'
import { createKeyRing } from '../../src/tokens/key-ring.ts'
import { createOneTimeTokens } from '../../src/tokens/one-time-tokens.ts'
import { password } from './http-client.ts'

const tokenKey = Buffer.alloc(32, 'one-time tokens')
const sessionKey = Buffer.alloc(32, 'refresh tokens')
const oneTimeTokens = createOneTimeTokens(createKeyRing(tokenKey))

/** Users created by a server of an earlier version. */
export const earlier = {
  /** Has a password, a session, and rows in all tables of later versions. */
  ada: { id: '00000000-0000-4000-8000-00000000000a', email: 'ada@earlier.example' },
  /** Has not confirmed the address yet. */
  ben: { id: '00000000-0000-4000-8000-00000000000b', email: 'ben@earlier.example' },
  sessionId: '00000000-0000-4000-8000-0000000000a1',
  refreshToken: createRefreshTokens(createKeyRing(sessionKey)).encode({
    sessionId: '00000000-0000-4000-8000-0000000000a1',
    counter: 3,
  }),
  linkToken: 'f'.repeat(56),
  authCode: '00000000-0000-4000-8000-0000000000a2',
  codeVerifier: 'v'.repeat(43),
  factorId: '00000000-0000-4000-8000-0000000000a3',
  passkeyId: '00000000-0000-4000-8000-0000000000a4',
  ssoProviderId: '00000000-0000-4000-8000-0000000000b5',
} as const

const { ada, ben } = earlier
const challenge = createHash('sha256').update(earlier.codeVerifier).digest('base64url')
const linked = oneTimeTokens.store({ digits: '123456', linkToken: earlier.linkToken }, ben.email)
/** The low cost keeps tests fast; the hash is upgraded at the next sign-in. */
const passwordHash = await hash(password, { cost: 4 })

type Insert = readonly [table: string, row: Readonly<Record<string, unknown>>]

const importedRow = { id: ada.id, source_hash: 1, updated_at: '2024-01-01T00:00:00Z' }

/**
 * The rows of each version, with the columns that it had then. A migration that adds a table or a
 * column gets rows here, and later migrations have to keep them.
 */
const rows: Readonly<Record<string, readonly Insert[]>> = {
  '0001-init': [
    [
      'users',
      {
        ...ada,
        aud: 'authenticated',
        role: 'authenticated',
        encrypted_password: passwordHash,
        email_confirmed_at: '2024-01-01T00:00:00Z',
        phone: '15550100001',
        phone_confirmed_at: '2024-01-01T00:00:00Z',
        raw_app_meta_data: { provider: 'email', providers: ['email', 'phone'] },
        raw_user_meta_data: { full_name: 'Ada Lovelace' },
      },
    ],
    [
      'users',
      { ...ben, aud: 'authenticated', role: 'authenticated', encrypted_password: passwordHash },
    ],
    [
      'identities',
      {
        id: '00000000-0000-4000-8000-0000000000a5',
        user_id: ada.id,
        provider: 'email',
        provider_id: ada.id,
        identity_data: { sub: ada.id, email: ada.email, email_verified: true },
      },
    ],
    [
      'identities',
      {
        id: '00000000-0000-4000-8000-0000000000b5',
        user_id: ben.id,
        provider: 'email',
        provider_id: ben.id,
        identity_data: { sub: ben.id, email: ben.email },
      },
    ],
    [
      'sessions',
      {
        id: earlier.sessionId,
        user_id: ada.id,
        amr: JSON.stringify([{ method: 'password', timestamp: 1_700_000_000 }]),
        user_agent: 'Mozilla/5.0',
        ip: '192.0.2.1',
        refresh_token_counter: 3,
      },
    ],
    [
      'one_time_tokens',
      {
        user_id: ben.id,
        token_type: 'confirmation',
        token_hash: linked.tokenHash,
        otp_hash: linked.otpHash,
        relates_to: ben.email,
        expires_at: '9999-01-01T00:00:00Z',
      },
    ],
    [
      'flow_states',
      {
        id: '00000000-0000-4000-8000-0000000000a6',
        user_id: ada.id,
        auth_code: earlier.authCode,
        code_challenge: challenge,
        code_challenge_method: 's256',
        authentication_method: 'magiclink',
        auth_code_issued_at: '9999-01-01T00:00:00Z',
      },
    ],
    [
      'outbox',
      {
        channel: 'email',
        kind: 'confirmation',
        recipient: ben.email,
        payload: {
          SiteURL: 'https://site.example',
          Email: ben.email,
          Token: '123456',
          TokenHash: earlier.linkToken,
          ConfirmationURL: `https://auth.example/verify?token=${earlier.linkToken}&type=signup`,
          Data: {},
        },
        expires_at: '9999-01-01T00:00:00Z',
      },
    ],
    ['message_caps', { channel: 'email', window_start: '2024-01-01T00:00:00Z', sent: 7 }],
    [
      'audit_log_entries',
      {
        id: '00000000-0000-4000-8000-0000000000a7',
        payload: { action: 'login', log_type: 'account', actor_id: ada.id, traits: {} },
        ip_address: '192.0.2.1',
      },
    ],
    ['server_keys', { name: 'one_time_tokens', value: tokenKey }],
    ['server_keys', { name: 'refresh_tokens', value: sessionKey }],
  ],
  '0004-factors': [
    [
      'mfa_factors',
      {
        id: earlier.factorId,
        user_id: ada.id,
        factor_type: 'phone',
        friendly_name: 'the old phone',
        status: 'verified',
        phone: '15550100001',
      },
    ],
    [
      'mfa_challenges',
      {
        id: '00000000-0000-4000-8000-0000000000a8',
        factor_id: earlier.factorId,
        ip_address: '192.0.2.1',
        otp_hash: Buffer.alloc(32, 1),
        expires_at: '9999-01-01T00:00:00Z',
      },
    ],
    ['mfa_recovery_codes', { factor_id: earlier.factorId, code_hash: Buffer.alloc(32, 2) }],
  ],
  '0005-external': [
    [
      'flow_states',
      {
        id: '00000000-0000-4000-8000-0000000000a9',
        auth_code: '00000000-0000-4000-8000-0000000000aa',
        authentication_method: 'oauth',
        provider_type: 'github',
        provider_memo: { verifier: 'secret' },
        browser_hash: Buffer.alloc(32, 3),
        linking_target_id: ada.id,
      },
    ],
  ],
  '0007-passkeys': [
    [
      'webauthn_credentials',
      {
        id: earlier.passkeyId,
        user_id: ada.id,
        credential_id: Buffer.alloc(16, 4),
        public_key: Buffer.alloc(77, 5),
        aaguid: '00000000-0000-0000-0000-000000000000',
        is_syncable: true,
        is_backed_up: false,
        friendly_name: 'the old key',
      },
    ],
    [
      'webauthn_challenges',
      {
        id: '00000000-0000-4000-8000-0000000000ab',
        ceremony: 'authentication',
        challenge: 'x'.repeat(43),
        expires_at: '9999-01-01T00:00:00Z',
      },
    ],
  ],
  '0010-message-gaps': [
    ['message_gaps', { key: Buffer.alloc(32, 6), sent_at: '2024-01-01T00:00:00Z' }],
    [
      'one_time_tokens',
      {
        user_id: ada.id,
        token_type: 'recovery',
        token_hash: Buffer.alloc(32, 7),
        otp_hash: Buffer.alloc(32, 8),
        relates_to: ada.email,
        expires_at: '2024-01-01T00:00:00Z',
        voids_password: true,
      },
    ],
  ],
  '0014-linking': [
    [
      'flow_states',
      {
        id: '00000000-0000-4000-8000-0000000000b1',
        auth_code: '00000000-0000-4000-8000-0000000000b2',
        authentication_method: 'oauth',
        provider_type: 'github',
        browser_hash: Buffer.alloc(32, 6),
        linking_target_id: ada.id,
        linking_session_id: earlier.sessionId,
        linking_step: 'unseen',
        provider_url: 'https://github.com/login/oauth/authorize?state=b1',
      },
    ],
  ],
  '0015-code-attempts': [
    ['code_attempts', { key: Buffer.alloc(32, 9), attempts: 3, tried_at: '2024-01-01T00:00:00Z' }],
  ],
  '0039-sign-ins': [
    ['sign_in_counts', { step: '2024-01-01T00:00:00Z', outcome: 'succeeded', count: 3 }],
    [
      'sign_in_failures',
      {
        id: '00000000-0000-4000-8000-0000000000ac',
        period: '2024-01-01T00:00:00Z',
        aud: 'authenticated',
        name: ada.email,
        reason: 'wrong_password',
        ip_address: '192.0.2.1',
        user_id: ada.id,
        count: 2,
        first_at: '2024-01-01T00:00:00Z',
        last_at: '2024-01-01T00:01:00Z',
      },
    ],
  ],
  '0046-oauth-clients': [
    [
      'oauth_clients',
      {
        id: '00000000-0000-4000-8000-0000000000b3',
        client_type: 'confidential',
        secret_hash: Buffer.alloc(32, 10),
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: '["https://client.example/callback"]',
        grant_types: '["authorization_code"]',
        client_name: 'the old client',
        client_uri: '',
        logo_uri: '',
        created_at: '2024-01-01T00:00:00Z',
        updated_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
  '0100-dpop': [['dpop_proofs', { key: Buffer.alloc(32, 14), expires_at: '2024-01-01T00:10:00Z' }]],
  '0061-custom-providers': [
    [
      'custom_providers',
      {
        id: '00000000-0000-4000-8000-0000000000b4',
        identifier: 'custom:old',
        settings: '{}',
        secret: Buffer.alloc(60, 13),
        created_at: '2024-01-01T00:00:00Z',
        updated_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
  '0060-web3-messages': [
    ['web3_messages', { key: Buffer.alloc(32, 12), expires_at: '2024-01-01T00:10:00Z' }],
  ],
  '0050-oauth-server': [
    [
      'oauth_authorizations',
      {
        id: 'the-old-request',
        client_id: '00000000-0000-4000-8000-0000000000b3',
        user_id: ada.id,
        status: 'approved',
        redirect_uri: 'https://client.example/callback',
        scope: 'email',
        state: '',
        nonce: '',
        resource: '',
        code_challenge: challenge,
        prompt: '',
        code_hash: Buffer.alloc(32, 12),
        aal: 'aal1',
        amr: '[]',
        auth_time: '2024-01-01T00:00:00Z',
        created_at: '2024-01-01T00:00:00Z',
        expires_at: '9999-01-01T00:00:00Z',
      },
    ],
    [
      'oauth_consents',
      {
        user_id: ada.id,
        client_id: '00000000-0000-4000-8000-0000000000b3',
        resource: '',
        scopes: '["email"]',
        granted_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
  '0041-import': [
    [
      'imports',
      {
        id: '00000000-0000-4000-8000-0000000000ad',
        source: 'db.example:5432/postgres, schema "auth"',
        source_version: '20260625000000',
        snapshot_at: '2024-01-01T00:00:00Z',
        report: {},
      },
    ],
    ['imported_rows', { ...importedRow, table_name: 'users' }],
    ['imported_session_keys', { session_id: earlier.sessionId, sealed_key: Buffer.alloc(60, 10) }],
    [
      'imported_refresh_tokens',
      { token_hash: Buffer.alloc(32, 11), session_id: earlier.sessionId, counter: 2 },
    ],
  ],
  '0080-sso': [
    [
      'sso_providers',
      {
        id: earlier.ssoProviderId,
        entity_id: 'https://idp.example/metadata',
        metadata_xml: '<EntityDescriptor/>',
        metadata_read_at: '2024-01-01T00:00:00Z',
        attribute_mapping: {},
        created_at: '2024-01-01T00:00:00Z',
        updated_at: '2024-01-01T00:00:00Z',
      },
    ],
    [
      'sso_domains',
      {
        domain: 'company.example',
        sso_provider_id: earlier.ssoProviderId,
        created_at: '2024-01-01T00:00:00Z',
      },
    ],
    [
      'saml_assertions',
      {
        sso_provider_id: earlier.ssoProviderId,
        id_hash: Buffer.alloc(32, 12),
        expires_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
  '0081-scim': [
    [
      'scim_tokens',
      {
        id: '00000000-0000-4000-8000-0000000000b6',
        sso_provider_id: earlier.ssoProviderId,
        token_hash: Buffer.alloc(32, 13),
        created_at: '2024-01-01T00:00:00Z',
      },
    ],
    [
      'scim_users',
      {
        user_id: ada.id,
        sso_provider_id: earlier.ssoProviderId,
        user_name: 'ada',
        active: true,
        attributes: {},
        created_at: '2024-01-01T00:00:00Z',
        updated_at: '2024-01-01T00:00:00Z',
      },
    ],
    [
      'scim_groups',
      {
        id: '00000000-0000-4000-8000-0000000000b7',
        sso_provider_id: earlier.ssoProviderId,
        display_name: 'Staff',
        created_at: '2024-01-01T00:00:00Z',
        updated_at: '2024-01-01T00:00:00Z',
      },
    ],
    ['scim_members', { group_id: '00000000-0000-4000-8000-0000000000b7', user_id: ada.id }],
  ],
  '0042-import-sources': [
    ['imported_rows', { ...importedRow, table_name: 'sessions', source: 'file' }],
  ],
  '0072-api-keys': [
    [
      'service_accounts',
      {
        id: '00000000-0000-4000-8000-0000000000b2',
        name: 'reports',
        role: 'service_account',
        created_at: '2024-01-01T00:00:00Z',
      },
    ],
    [
      'api_keys',
      {
        id: '00000000-0000-4000-8000-0000000000b3',
        user_id: ada.id,
        name: 'laptop',
        hint: 'abcd',
        secret_hash: Buffer.alloc(32, 12),
        scopes: '[]',
        created_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
  '0070-revocations': [
    [
      'revocations',
      {
        kind: 'session',
        subject: '00000000-0000-4000-8000-0000000000b1',
        revoked_at: '2024-01-01T00:00:00Z',
      },
    ],
  ],
}

/** Inserts the rows of a version. The search path must contain the schema. */
export async function addEarlierRows(client: Client, version: string): Promise<void> {
  for (const [table, row] of rows[version] ?? []) {
    const names = Object.keys(row)
    const places = names.map((_, at) => `$${at + 1}`)
    await client.query(
      `insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`,
      Object.values(row),
    )
  }
}
