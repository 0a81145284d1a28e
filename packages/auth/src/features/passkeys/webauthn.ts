import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { RelyingParty } from '../../config/passkeys.ts'
import type { Metadata } from '../../stored-json.ts'
import type { UserRow } from '../users/statements/user-row.ts'

/** The known properties of an authenticator's credential. */
export interface Credential {
  /** Base64url, as is `publicKey`. */
  readonly id: string
  /** COSE-encoded. */
  readonly publicKey: string
  /** The signature counter; 0 if the authenticator does not count. */
  readonly counter: number
  /** How browsers reach the authenticator. */
  readonly transports: readonly string[]
  /** Whether the credential can be synced to other devices. This never changes. */
  readonly isSyncable: boolean
  readonly isBackedUp: boolean
}

export interface NewCredential extends Credential {
  /** The model of the authenticator. */
  readonly aaguid: string
}

/** An authenticator's response is invalid. The message is for the log. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
}

/** Imported on first use: the library is large, and most servers do not need it. */
const loadServer = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

/** EdDSA, ES256 and RS256 by their COSE identifiers: supported by both authenticators and Node. */
const algorithms = [-8, -7, -257]

type Named = Pick<Credential, 'id' | 'transports'>

export interface CreationRequest {
  readonly relyingParty: RelyingParty
  /** An authenticator keeps one discoverable credential per user handle. */
  readonly userHandle: string
  readonly user: Pick<UserRow, 'id' | 'email' | 'phone' | 'raw_user_meta_data'>
  /** Credentials that the authenticator must not already have. */
  readonly exclude: readonly Named[]
  /** Whether the credential can be found without its ID, as passkeys can. */
  readonly isDiscoverable: boolean
  readonly timeoutMs: number
}

export interface WebAuthnOptions {
  readonly challenge: string
  /** For `navigator.credentials`, as JSON. */
  readonly json: Metadata
}

export async function createCreationOptions(request: CreationRequest): Promise<WebAuthnOptions> {
  const { generateRegistrationOptions } = await loadServer()
  const userName = request.user.email ?? request.user.phone ?? request.user.id
  const { name } = request.user.raw_user_meta_data
  const options = await generateRegistrationOptions({
    rpID: request.relyingParty.id,
    rpName: request.relyingParty.name,
    userID: new TextEncoder().encode(request.userHandle),
    // Browsers show these names when the user chooses between accounts.
    userName,
    userDisplayName: typeof name === 'string' && name !== '' ? name : userName,
    timeout: request.timeoutMs,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: request.exclude.map(toDescriptor),
    authenticatorSelection: {
      residentKey: request.isDiscoverable ? 'required' : 'discouraged',
      userVerification: toUserVerification(request.relyingParty),
    },
  })
  return { challenge: options.challenge, json: toJson(options) }
}

export interface AssertionRequest {
  readonly relyingParty: RelyingParty
  /** The accepted credentials. Default: any credential of this site. */
  readonly allow?: readonly Named[]
  readonly timeoutMs: number
}

export async function createRequestOptions(request: AssertionRequest): Promise<WebAuthnOptions> {
  const { generateAuthenticationOptions } = await loadServer()
  const options = await generateAuthenticationOptions({
    rpID: request.relyingParty.id,
    timeout: request.timeoutMs,
    userVerification: toUserVerification(request.relyingParty),
    ...(request.allow && { allowCredentials: request.allow.map(toDescriptor) }),
  })
  return { challenge: options.challenge, json: toJson(options) }
}

function toUserVerification({ requiresUserVerification }: RelyingParty) {
  return requiresUserVerification ? 'required' : 'preferred'
}

function toDescriptor({ id, transports }: Named) {
  return { id, ...(transports.length > 0 && { transports: [...transports] }) }
}

/** Drops undefined values. */
function toJson(options: object): Metadata {
  return JSON.parse(JSON.stringify(options))
}

interface Expectation {
  readonly relyingParty: RelyingParty
  readonly challenge: string
}

/** More than any key in use, including post-quantum keys. */
const mostKeyBytes = 4_096
/** The limit in WebAuthn, section 4. */
const mostIdBytes = 1_023

/** @param response the result of `navigator.credentials.create`. @throws {CredentialError} */
export async function verifyCreation(
  { relyingParty, challenge }: Expectation,
  response: unknown,
): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await loadServer()
  const { isoCBOR, decodeAttestationObject } = await loadHelpers()
  return wrapErrors(async () => {
    const parsed = parseCreation(response)
    // No attestation is requested, and an unrequested one is ignored: verifying it would mean
    // fetching URLs from certificates that an attacker can write.
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
    if (toBytes(id).length > mostIdBytes) throw new CredentialError('The credential ID is too long')
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

/** What is needed to check a signature. */
export type SigningCredential = Pick<Credential, 'id' | 'publicKey' | 'counter' | 'isSyncable'>
/** What a signature changes. */
export type SignedCredential = Pick<Credential, 'counter' | 'isBackedUp'>

/**
 * A counter that does not increase indicates a cloned authenticator (WebAuthn, section 6.1.1).
 * @throws {CredentialError}
 */
export async function verifyAssertion(
  { relyingParty, challenge }: Expectation,
  assertion: Assertion,
  credential: SigningCredential,
): Promise<SignedCredential> {
  const { verifyAuthenticationResponse } = await loadServer()
  return wrapErrors(async () => {
    if (assertion.id !== credential.id)
      throw new CredentialError('The credential ID does not match')
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
      throw new CredentialError('The backup eligibility of the credential has changed')
    }
    return { counter: newCounter, isBackedUp: credentialBackedUp }
  })
}

/** Any other error of the library is caused by the client's input. */
async function wrapErrors<Result>(verify: () => Promise<Result>): Promise<Result> {
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

/** @param value the result of `navigator.credentials.get`. @throws {CredentialError} */
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
  if (readText(value, 'type') !== 'public-key') throw new CredentialError('type must be public-key')
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

/** Unknown transports are kept, because browsers get them back unchanged. */
function isTransport(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z-]{1,32}$/.test(value)
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
