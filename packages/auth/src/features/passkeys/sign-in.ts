import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import {
  type CeremonyAnswer,
  requireChallenge,
  requirePasskeys,
  startCeremony,
  verificationFailed,
  verifyOrRefuse,
} from './ceremony.ts'
import { type OwnedPasskey, tryPasskey, usePasskey } from './statements.ts'
import {
  type Assertion,
  CredentialError,
  createRequestOptions,
  parseAssertion,
  verifyAssertion,
} from './webauthn.ts'

/** Accepts any passkey of this site; the user is known only afterwards. @throws {ApiError} */
export async function startPasskeySignIn(services: Services): Promise<Metadata> {
  requirePasskeys(services)
  const { relyingParty, challengeExpiresInMs } = services.config.passkeys
  const options = await createRequestOptions({ relyingParty, timeoutMs: challengeExpiresInMs })
  return startCeremony(services, 'authentication', null, options)
}

/** @throws {ApiError} */
export async function finishPasskeySignIn(
  services: Services,
  answer: CeremonyAnswer,
  client: Client,
): Promise<TokenResponse> {
  requirePasskeys(services)
  const { audience } = services.config.tokens
  const found: FoundOwner = { name: '', audience, userId: undefined, ip: client.ip }
  return await notingFailure(services.signInLog, found, () =>
    signIn(services, answer, client, found),
  )
}

/** The data for the log of failed sign-ins. */
interface FoundOwner {
  name: string
  readonly audience: string
  userId: string | undefined
  readonly ip: string
}

async function signIn(
  services: Services,
  answer: CeremonyAnswer,
  client: Client,
  found: FoundOwner,
): Promise<TokenResponse> {
  const { db, config, sessions } = services
  const assertion = toAssertion(answer.credential)
  const nowMs = services.now()
  const [attempt] = await db.run(tryPasskey, {
    challengeId: answer.challengeId,
    credentialId: assertion ? Buffer.from(assertion.id, 'base64url') : null,
    userId: assertion ? toUserId(assertion.response.userHandle) : null,
  })
  const { challenge, passkey } = requireChallenge(attempt, nowMs)
  if (assertion === undefined) {
    throw new ApiError('webauthn_verification_failed', 'Invalid credential response')
  }
  if (passkey === null) throw verificationFailed()
  found.userId = passkey.id
  found.name = passkey.email ?? passkey.phone ?? ''
  const { relyingParty } = config.passkeys
  const signed = await verifyOrRefuse(
    verifyAssertion({ relyingParty, challenge }, assertion, {
      id: assertion.id,
      publicKey: Buffer.from(passkey.public_key, 'hex').toString('base64url'),
      counter: passkey.sign_count,
      isSyncable: passkey.is_syncable,
    }),
  )
  // Checked after the signature, because the errors would reveal that the user exists.
  checkMaySignIn(passkey, nowMs)
  const [used] = await db.run(usePasskey, {
    id: passkey.passkey_id,
    signCount: signed.counter,
    isBackedUp: signed.isBackedUp,
    now: new Date(nowMs),
  })
  if (used === undefined) throw verificationFailed()
  return sessions.open({ user: passkey, method: 'passkey', client })
}

function toAssertion(credential: unknown): Assertion | undefined {
  try {
    return parseAssertion(credential)
  } catch (error) {
    if (error instanceof CredentialError) return undefined
    throw error
  }
}

/** The user handle of a passkey is the ID of its owner. */
function toUserId(userHandle = ''): string | null {
  const id = Buffer.from(userHandle, 'base64url').toString()
  return /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.test(id) ? id : null
}

/** @throws {ApiError} */
function checkMaySignIn(owner: OwnedPasskey, nowMs: number): void {
  if (owner.email !== null && owner.email_confirmed_at === null) {
    throw new ApiError('email_not_confirmed', 'Email not confirmed', { status: 403 })
  }
  if (owner.phone !== null && owner.phone_confirmed_at === null) {
    throw new ApiError('phone_not_confirmed', 'Phone not confirmed', { status: 403 })
  }
  if (owner.banned_until !== null && Date.parse(owner.banned_until) > nowMs) {
    throw new ApiError('user_banned', 'User is banned')
  }
}
