import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { RelyingParty } from '../../config/passkeys.ts'
import type { Metadata } from '../users/metadata.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/** An authenticator's key pair, as far as we know it. */
export interface Credential {
  /** Base64url, as the next. */
  readonly id: string
  /** In the form of COSE. */
  readonly publicKey: string
  /** Signatures so far; 0 where the authenticator does not count. */
  readonly counter: number
  /** How browsers reach the authenticator. */
  readonly transports: readonly string[]
  /** Whether it can leave its device: never changes. */
  readonly isSyncable: boolean
  readonly isBackedUp: boolean
}

export interface NewCredential extends Credential {
  /** The model of the authenticator. */
  readonly aaguid: string
}

/** What came from an authenticator is not right. The message is for the log. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
}

/** Loaded when somebody needs it: it is large, and most servers do without. */
const loadServer = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

/** EdDSA, ES256 and RS256, by their numbers in COSE: what authenticators have, and Node is sure of. */
const algorithms = [-8, -7, -257]

type Named = Pick<Credential, 'id' | 'transports'>

export interface CreationAsk {
  readonly relyingParty: RelyingParty
  /** An authenticator keeps one discoverable credential for each. */
  readonly userHandle: string
  readonly user: Pick<UserRow, 'id' | 'email' | 'phone' | 'raw_user_meta_data'>
  /** What the authenticator must not have already. */
  readonly exclude: readonly Named[]
  /** Whether it can be found without its id, as passkeys are. */
  readonly isDiscoverable: boolean
  readonly timeoutMs: number
}

export interface WebAuthnOptions {
  readonly challenge: string
  /** For `navigator.credentials`, as JSON. */
  readonly json: Metadata
}

export async function createCreationOptions(ask: CreationAsk): Promise<WebAuthnOptions> {
  const { generateRegistrationOptions } = await loadServer()
  const userName = ask.user.email ?? ask.user.phone ?? ask.user.id
  const { name } = ask.user.raw_user_meta_data
  const options = await generateRegistrationOptions({
    rpID: ask.relyingParty.id,
    rpName: ask.relyingParty.name,
    userID: new TextEncoder().encode(ask.userHandle),
    // What people choose by when their browser shows several accounts.
    userName,
    userDisplayName: typeof name === 'string' && name !== '' ? name : userName,
    timeout: ask.timeoutMs,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: ask.exclude.map(toDescriptor),
    authenticatorSelection: {
      residentKey: ask.isDiscoverable ? 'required' : 'discouraged',
      userVerification: toUserVerification(ask.relyingParty),
    },
  })
  return { challenge: options.challenge, json: toJson(options) }
}

export interface RequestAsk {
  readonly relyingParty: RelyingParty
  /** Undefined: any that the browser finds. */
  readonly allow?: readonly Named[]
  readonly timeoutMs: number
}

export async function createRequestOptions(ask: RequestAsk): Promise<WebAuthnOptions> {
  const { generateAuthenticationOptions } = await loadServer()
  const options = await generateAuthenticationOptions({
    rpID: ask.relyingParty.id,
    timeout: ask.timeoutMs,
    userVerification: toUserVerification(ask.relyingParty),
    ...(ask.allow && { allowCredentials: ask.allow.map(toDescriptor) }),
  })
  return { challenge: options.challenge, json: toJson(options) }
}

function toUserVerification({ requiresUserVerification }: RelyingParty) {
  return requiresUserVerification ? 'required' : 'preferred'
}

function toDescriptor({ id, transports }: Named) {
  return { id, ...(transports.length > 0 && { transports: [...transports] }) }
}

/** Leaves out what is undefined. */
function toJson(options: object): Metadata {
  return JSON.parse(JSON.stringify(options))
}

interface Expectation {
  readonly relyingParty: RelyingParty
  readonly challenge: string
}

/** More than any key that is in use, of post-quantum cryptography included. */
const mostKeyBytes = 4_096
/** WebAuthn 4. */
const mostIdBytes = 1_023

/** @param response what `navigator.credentials.create` gave. @throws {CredentialError} */
export async function verifyCreation(
  { relyingParty, challenge }: Expectation,
  response: unknown,
): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await loadServer()
  const { isoCBOR, decodeAttestationObject } = await loadHelpers()
  return refuseFlaws(async () => {
    const parsed = parseCreation(response)
    // The site asks for no attestation, and looks at none that comes nevertheless: to check it means
    // to fetch URLs out of certificates that a stranger wrote.
    const attestation = decodeAttestationObject(toBytes(parsed.response.attestationObject))
    const withoutProof = isoCBOR.encode(
      new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', attestation.get('authData')],
      ]),
    )
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...parsed,
        response: { ...parsed.response, attestationObject: toText(withoutProof) },
      },
      expectedChallenge: challenge,
      expectedOrigin: [...relyingParty.origins],
      expectedRPID: relyingParty.id,
      requireUserVerification: relyingParty.requiresUserVerification,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) throw new CredentialError('The registration could not be verified')
    const { credential, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo
    const { id, publicKey, counter } = credential
    if (publicKey.length > mostKeyBytes) throw new CredentialError('The public key is too long')
    if (toBytes(id).length > mostIdBytes) throw new CredentialError('The id is too long')
    return {
      id,
      publicKey: toText(publicKey),
      counter,
      transports: credential.transports ?? [],
      isSyncable: credentialDeviceType === 'multiDevice',
      isBackedUp: credentialBackedUp,
      aaguid,
    }
  })
}

export type Assertion = AuthenticationResponseJSON

/** What a signature is checked with. */
export type SigningCredential = Pick<Credential, 'id' | 'publicKey' | 'counter' | 'isSyncable'>
/** What a signature changes. */
export type SignedCredential = Pick<Credential, 'counter' | 'isBackedUp'>

/** A counter that does not rise is a copy of the authenticator (WebAuthn 6.1.1). @throws {CredentialError} */
export async function verifyAssertion(
  { relyingParty, challenge }: Expectation,
  assertion: Assertion,
  credential: SigningCredential,
): Promise<SignedCredential> {
  const { verifyAuthenticationResponse } = await loadServer()
  return refuseFlaws(async () => {
    if (assertion.id !== credential.id) throw new CredentialError('It is another credential')
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: challenge,
      expectedOrigin: [...relyingParty.origins],
      expectedRPID: relyingParty.id,
      requireUserVerification: relyingParty.requiresUserVerification,
      credential: {
        id: credential.id,
        publicKey: toBytes(credential.publicKey),
        counter: credential.counter,
      },
    })
    if (!verified) throw new CredentialError('The signature is wrong')
    const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo
    if ((credentialDeviceType === 'multiDevice') !== credential.isSyncable) {
      throw new CredentialError('Whether it can be backed up has changed')
    }
    return { counter: newCounter, isBackedUp: credentialBackedUp }
  })
}

/** Whatever the library does not like was written by the caller. */
async function refuseFlaws<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof CredentialError) throw error
    throw new CredentialError(error instanceof Error ? error.message : 'unknown', { cause: error })
  }
}

function parseCreation(value: unknown): RegistrationResponseJSON {
  const response = readObject(value, 'response')
  const transports: unknown = Reflect.get(response, 'transports')
  return {
    ...readIds(value),
    response: {
      clientDataJSON: readText(response, 'clientDataJSON'),
      attestationObject: readText(response, 'attestationObject'),
      transports: Array.isArray(transports) ? transports.filter(isTransport).slice(0, 8) : [],
    },
  }
}

/** @param value what `navigator.credentials.get` gave. @throws {CredentialError} */
export function parseAssertion(value: unknown): Assertion {
  const response = readObject(value, 'response')
  const userHandle: unknown = Reflect.get(response, 'userHandle')
  return {
    ...readIds(value),
    response: {
      clientDataJSON: readText(response, 'clientDataJSON'),
      authenticatorData: readText(response, 'authenticatorData'),
      signature: readText(response, 'signature'),
      ...(typeof userHandle === 'string' && { userHandle }),
    },
  }
}

function readIds(value: unknown) {
  if (readText(value, 'type') !== 'public-key') throw new CredentialError('It is no public key')
  const id = readText(value, 'id')
  return {
    id,
    rawId: readText(value, 'rawId'),
    type: 'public-key',
    clientExtensionResults: {},
  } as const
}

function readText(from: unknown, name: string): string {
  const value: unknown = isObject(from) ? Reflect.get(from, name) : undefined
  if (typeof value === 'string' && value !== '') return value
  throw new CredentialError(`${name} is missing`)
}

function readObject(from: unknown, name: string): object {
  const value: unknown = isObject(from) ? Reflect.get(from, name) : undefined
  if (isObject(value)) return value
  throw new CredentialError(`${name} is missing`)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Browsers get them back as they came. */
function isTransport(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z-]{1,32}$/.test(value)
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
