import { boolean } from '@portcullis/service-kit/settings/env'
import { invalid } from '../../errors.ts'
import {
  findFactorSecrets,
  listFactorCredentials,
} from '../../features/factors/statements/factors.ts'
import {
  type Credential,
  CredentialError,
  createCreationOptions,
  createRequestOptions,
  parseAssertion,
  verifyAssertion,
  verifyCreation,
} from '../../features/passkeys/webauthn.ts'
import type { Metadata } from '../../stored-json.ts'
import {
  type Attempt,
  type ChallengeRequest,
  defineFactorKind,
  type FactorServices,
  type Proof,
} from './factor-kind.ts'

/**
 * Security keys and platform authenticators. The RP ID and the origins in the client's request are
 * ignored in favour of the configured ones, because the client could send anything.
 */
export const webauthn = defineFactorKind({
  label: 'WebAuthn',
  method: 'mfa/webauthn',
  codes: { enroll: 'mfa_webauthn_enroll_not_enabled', verify: 'mfa_webauthn_verify_not_enabled' },
  wrongAnswer: 'Invalid WebAuthn credential shown',
  isGuessable: false,
  variables: {
    enroll: boolean(
      'AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED',
      false,
      'Whether users may enroll security keys and platform authenticators (WebAuthn) as factors',
    ),
    verify: boolean(
      'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED',
      false,
      'Whether WebAuthn factors are challenged and accepted',
    ),
  },
  needs: 'relying party',

  enroll: () => ({ shown: {} }),

  async challenge(services, request) {
    const type = request.factor.status === 'verified' ? 'request' : 'create'
    const { challenge, json } = await ceremonies[type].start(services, request)
    return {
      webAuthnData: { type, challenge },
      shown: { webauthn: { type, credential_options: { publicKey: json } } },
    }
  },

  checkForm({ webauthn: answer }) {
    const { type, response } = toParts(answer)
    if (type !== 'create' && type !== 'request') {
      throw invalid('webauthn.type must be create or request')
    }
    if (response === undefined) throw invalid('webauthn.credential_response is required')
  },

  async check(services, attempt) {
    const { factor, answer, challenge } = attempt
    const { type, response } = toParts(answer.webauthn)
    const { type: requested, challenge: text } = challenge.web_authn_data ?? {}
    if (type !== requested || typeof text !== 'string') return undefined
    // Another challenge for the same factor may have been answered first; its key is kept.
    if (type === 'create' && factor.status === 'verified') return undefined
    try {
      if (type === 'create')
        return await ceremonies.create.finish(services, attempt, text, response)
      return await ceremonies.request.finish(services, attempt, text, response)
    } catch (error) {
      if (error instanceof CredentialError) return undefined
      throw error
    }
  },
})

const ceremonies = {
  create: {
    async start({ db, config }: FactorServices, { user, factor }: ChallengeRequest) {
      const rows = await db.run(listFactorCredentials, { userId: user.id })
      const others = rows.flatMap((row) => parseCredential(row.web_authn_credential) ?? [])
      return createCreationOptions({
        relyingParty: config.passkeys.relyingParty,
        // With the user's id, an authenticator would replace the user's passkey by this credential.
        userHandle: factor.id,
        user,
        exclude: others,
        isDiscoverable: false,
        timeoutMs: config.mfa.challengeExpiresInMs,
      })
    },
    async finish(
      { config }: FactorServices,
      _attempt: Attempt,
      challenge: string,
      response: unknown,
    ): Promise<Proof> {
      const { relyingParty } = config.passkeys
      const { aaguid, ...credential } = await verifyCreation({ relyingParty, challenge }, response)
      return { credential: toStored(credential), aaguid }
    },
  },
  request: {
    async start({ db, config }: FactorServices, { user, factor }: ChallengeRequest) {
      const [secrets] = await db.run(findFactorSecrets, { id: factor.id, userId: user.id })
      const credential = parseCredential(secrets?.web_authn_credential ?? null)
      return createRequestOptions({
        relyingParty: config.passkeys.relyingParty,
        allow: credential === undefined ? [] : [credential],
        timeoutMs: config.mfa.challengeExpiresInMs,
      })
    },
    async finish(
      { config }: FactorServices,
      attempt: Attempt,
      challenge: string,
      response: unknown,
    ): Promise<Proof | undefined> {
      const { relyingParty } = config.passkeys
      const credential = parseCredential(attempt.challenge.web_authn_credential)
      if (credential === undefined) return undefined
      const assertion = parseAssertion(response)
      const signed = await verifyAssertion({ relyingParty, challenge }, assertion, credential)
      return { credential: toStored({ ...credential, ...signed }) }
    },
  },
}

/** Parses the `webauthn` field of a body. @throws {ApiError} */
function toParts(answer: unknown): { readonly type: unknown; readonly response: unknown } {
  if (typeof answer !== 'object' || answer === null) throw invalid('webauthn is required')
  const response: unknown = Reflect.get(answer, 'credential_response')
  return { type: Reflect.get(answer, 'type'), response: response ?? undefined }
}

/** The credential in the format of the database column. */
function toStored(credential: Credential): Metadata {
  return {
    id: credential.id,
    public_key: credential.publicKey,
    sign_count: credential.counter,
    transports: credential.transports,
    is_syncable: credential.isSyncable,
    is_backed_up: credential.isBackedUp,
  }
}

function parseCredential(stored: Metadata | null): Credential | undefined {
  const { id, public_key: publicKey, sign_count: counter, transports } = stored ?? {}
  if (typeof id !== 'string' || typeof publicKey !== 'string') return undefined
  return {
    id,
    publicKey,
    counter: typeof counter === 'number' ? counter : 0,
    transports: Array.isArray(transports)
      ? transports.filter((one) => typeof one === 'string')
      : [],
    isSyncable: stored?.['is_syncable'] === true,
    isBackedUp: stored?.['is_backed_up'] === true,
  }
}
