import { randomBytes, randomUUID } from 'node:crypto'
import { hash as hashArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt } from '@node-rs/bcrypt'
import { decodeAttestationObject, parseAuthenticatorData } from '@simplewebauthn/server/helpers'
import { newAuthenticator } from '../passkeys.ts'
import type { SoftwareAuthenticator } from '../software-authenticator.ts'
import { addCompany, addCustomProvider, addOAuthClient } from './companies.ts'
import type { SourceRelease } from './schema.ts'
import { earlier, type SourceWriter, type Values } from './source-writer.ts'
import { signToken } from './tokens.ts'

export const sourcePassword = 'user1password'
const bcrypt = await hashBcrypt(sourcePassword, { cost: 4 })
const argon2 = await hashArgon2(sourcePassword, { memoryCost: 64, timeCost: 1 })
/** The example from the Firebase scrypt repository. */
const firebase =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='

export const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

/**
 * Adds users of every kind, and returns what the users know and have: IDs, addresses, tokens, keys.
 */
export async function addSourcePeople(writer: SourceWriter, release: SourceRelease) {
  const isNew = release === '2.196'
  const confirmed = { email_confirmed_at: earlier(590) }
  const withIdentity = async (id: string, email: string) =>
    writer.insert('identities', {
      user_id: id,
      provider: 'email',
      provider_id: id,
      identity_data: { sub: id, email, email_verified: true },
      last_sign_in_at: earlier(100),
      created_at: earlier(600),
      updated_at: earlier(300),
    })
  const member = async (email: string, row: Values = {}) => {
    const values = { email, encrypted_password: bcrypt, ...confirmed, ...row }
    const id = await writer.user(values)
    await withIdentity(id, email)
    return { id, email }
  }
  const signedIn = async (email: string, count: number, row: Values = {}) => {
    const { id } = await member(email, row)
    const sessionId = await writer.session(id, { refreshed_at: '2026-01-02 03:04:05' })
    return { id, email, sessionId, tokens: await writer.storedTokens(id, sessionId, count) }
  }

  const ada = await signedIn('Ada@Source.example', 3, {
    raw_user_meta_data: { full_name: 'Ada "the first" \\ Lovelace\n', n: 1.5, tags: ['ä', '\t'] },
    invited_at: earlier(595),
    last_sign_in_at: earlier(100),
    phone: '+15550100001',
    phone_confirmed_at: earlier(580),
    email_change: 'ada-new@source.example',
    email_change_sent_at: earlier(20),
  })
  const people = {
    ada,
    /** A client that sends the token before the valid one. */
    pat: await signedIn('pat@source.example', 2),
    /** A client that sends a token that was replaced twice. */
    rae: await signedIn('rae@source.example', 4),
    cleo: await member('cleo@source.example', { encrypted_password: argon2 }),
    fred: await member('fred@source.example', { encrypted_password: firebase }),
    ben: {
      id: await writer.user({
        phone: '15550100002',
        phone_confirmed_at: earlier(590),
        encrypted_password: bcrypt,
        raw_app_meta_data: { provider: 'phone', providers: ['phone'] },
      }),
      phone: '15550100002',
    },
    banned: await signedIn('banned@source.example', 1, { banned_until: earlier(-60_000) }),
    gone: {
      id: await writer.user({ email: '3f8a@source.example', deleted_at: earlier(10) }),
    },
    unconfirmed: await member('unconfirmed@source.example', { email_confirmed_at: null }),
    anonymous: await addAnonymous(writer),
    gina: await addExternal(writer),
    company: await addCompany(writer),
    tess: await addTotp(writer, member),
    ended: await addEnded(writer, member),
  }
  return { ...people, ...(isNew && { recent: await addRecent(writer, member) }) }
}

async function addAnonymous(writer: SourceWriter) {
  const id = await writer.user({ is_anonymous: true, raw_app_meta_data: {} })
  const sessionId = await writer.session(id, {}, ['anonymous'])
  return { id, sessionId, tokens: await writer.storedTokens(id, sessionId, 1) }
}

/** Adds a user with a Google account whose address differs from that of the user. */
async function addExternal(writer: SourceWriter) {
  const id = await writer.user({ email: 'gina@source.example', email_confirmed_at: earlier(590) })
  await writer.insert('identities', {
    user_id: id,
    provider: 'google',
    provider_id: '10987654321',
    identity_data: { sub: '10987654321', email: 'Gina@Other.example', email_verified: true },
    created_at: earlier(600),
    updated_at: earlier(600),
  })
  return { id, providerId: '10987654321' }
}

type AddMember = (email: string, row?: Values) => Promise<{ id: string; email: string }>

/** Adds a user with a TOTP factor, and a session with tokens from before and after its verification. */
async function addTotp(writer: SourceWriter, member: AddMember) {
  const { id, email } = await member('tess@source.example')
  const factorId = randomUUID()
  const factor = {
    user_id: id,
    factor_type: 'totp',
    created_at: earlier(550),
    updated_at: earlier(500),
  }
  await writer.insert('mfa_factors', {
    ...factor,
    id: factorId,
    status: 'verified',
    secret: totpSecret,
    friendly_name: 'Phone app',
  })
  await writer.insert('mfa_factors', {
    ...factor,
    id: randomUUID(),
    status: 'unverified',
    secret: totpSecret,
    friendly_name: ' ',
  })
  const sessionId = await writer.session(id, { aal: 'aal2', factor_id: factorId }, [
    'password',
    'totp',
  ])
  const tokens = await writer.storedTokens(id, sessionId, 2)
  // The first token was issued before the factor was verified, the second one by the verification.
  await writer.client.query(
    `update mfa_amr_claims set created_at = r.created_at, updated_at = r.created_at
     from refresh_tokens r where r.token = $1 and mfa_amr_claims.session_id = r.session_id
       and authentication_method = 'totp'`,
    [tokens[1]],
  )
  return { id, email, factorId, sessionId, tokens }
}

/** Adds sessions that cannot continue. */
async function addEnded(writer: SourceWriter, member: AddMember) {
  const { id, email } = await member('ended@source.example')
  const expired = await writer.session(id, { not_after: earlier(5) })
  await writer.storedTokens(id, expired, 1)
  const revoked = await writer.session(id)
  const tokens = await writer.storedTokens(id, revoked, 2)
  await writer.client.query('update refresh_tokens set revoked = true where session_id = $1', [
    revoked,
  ])
  return { id, email, expired, revoked, tokens }
}

/** Adds what only recent releases have: signed tokens, phone and WebAuthn factors, passkeys. */
async function addRecent(writer: SourceWriter, member: AddMember) {
  const vera = await member('vera@source.example')
  const key = randomBytes(32)
  const session = async (counter: number) => {
    const sessionId = await writer.session(vera.id, {
      refresh_token_hmac_key: key.toString('base64url'),
      refresh_token_counter: counter,
    })
    return { sessionId, token: (at: number) => signToken(sessionId, at, key) }
  }
  const first = await session(0)
  const upgraded = {
    ...first,
    stored: await writer.storedTokens(vera.id, first.sessionId, 3),
  }
  await writer.client.query('update refresh_tokens set revoked = true where session_id = $1', [
    first.sessionId,
  ])
  const factor = { user_id: vera.id, created_at: earlier(500), updated_at: earlier(500) }
  const phoneFactorId = randomUUID()
  await writer.insert('mfa_factors', {
    ...factor,
    id: phoneFactorId,
    factor_type: 'phone',
    status: 'verified',
    phone: '15550100009',
    friendly_name: 'Phone',
    last_challenged_at: earlier(400),
  })
  const webAuthnFactorId = randomUUID()
  const securityKey = newAuthenticator({ aaguid: 'cb69481e-8ff7-4039-93ec-0a2729a154a8' })
  const factorKey = makeKey(securityKey, webAuthnFactorId)
  await writer.insert('mfa_factors', {
    ...factor,
    id: webAuthnFactorId,
    factor_type: 'webauthn',
    status: 'verified',
    friendly_name: 'Key',
    web_authn_aaguid: 'cb69481e-8ff7-4039-93ec-0a2729a154a8',
    web_authn_credential: {
      id: factorKey.id.toString('base64'),
      publicKey: factorKey.publicKey.toString('base64'),
      attestationType: 'none',
      transport: ['internal'],
      flags: { userPresent: true, userVerified: true, backupEligible: false, backupState: false },
      authenticator: { AAGUID: 'y2lIHo/3QDmT7AonKaFUqA==', signCount: 0, cloneWarning: false },
    },
  })
  const passkeyHolder = newAuthenticator({ isSyncable: true, counts: false })
  const passkey = makeKey(passkeyHolder, vera.id)
  await writer.insert('webauthn_credentials', {
    id: randomUUID(),
    user_id: vera.id,
    credential_id: passkey.id,
    public_key: passkey.publicKey,
    sign_count: 0,
    transports: JSON.stringify(['internal']),
    backup_eligible: true,
    backed_up: true,
    friendly_name: 'iCloud Keychain',
  })
  return {
    vera,
    key,
    upgraded,
    signed: await session(5),
    parent: await session(300),
    reused: await session(5),
    client: await addOAuthClient(writer, vera.id),
    customProvider: await addCustomProvider(writer),
    phoneFactorId,
    webAuthnFactorId,
    securityKey,
    passkeyHolder,
  }
}

/** Creates a key in the authenticator for a user handle. */
function makeKey(authenticator: SoftwareAuthenticator, handle: string) {
  const { response } = authenticator.create({
    challenge: randomBytes(32).toString('base64url'),
    user: { id: Buffer.from(handle).toString('base64url') },
  })
  const attestation = decodeAttestationObject(
    new Uint8Array(Buffer.from(response.attestationObject, 'base64url')),
  )
  const { credentialID, credentialPublicKey } = parseAuthenticatorData(attestation.get('authData'))
  return {
    id: Buffer.from(credentialID ?? []),
    publicKey: Buffer.from(credentialPublicKey ?? []),
  }
}
