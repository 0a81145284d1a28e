import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import type { JSONWebKeySet } from 'jose'
import type { ProofOptions } from './proofs/options.ts'
import type { RevocationOptions } from './revocations/options.ts'

/** Options of `createVerifier`. One of `authUrl`, `secret` and `jwks` is required. */
export interface VerifierOptions {
  /** The address of the auth server, whose public keys are fetched and cached. */
  readonly authUrl?: string | URL | undefined
  /** The secret that signs tokens (`AUTH_JWT_SECRET`), for an auth server without key pairs. */
  readonly secret?: string | undefined
  /** The public keys themselves, for programs that must not call the auth server. */
  readonly jwks?: JSONWebKeySet | undefined
  /**
   * `aud` must be or contain one of these. Default: `authenticated`. An auth server without
   * `AUTH_JWT_AUD` issues tokens for the audience `''`.
   */
  readonly audience?: string | readonly string[] | undefined
  /**
   * The required value of `iss`. By default it is not checked, because auth servers may not set it.
   */
  readonly issuer?: string | undefined
  /** The allowed values of `role`. By default it is not checked. */
  readonly roles?: readonly string[] | undefined
  /** `aal2` accepts only tokens of users who have verified a second factor. */
  readonly aal?: 'aal1' | 'aal2' | undefined
  /** The maximum difference between clocks in seconds. Default: 5. */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * Refuses tokens within a second after their session has ended, or their user was banned or deleted. Default: tokens are
   * accepted until they expire. The verifier then has a connection to the auth server: close it.
   */
  readonly revocation?: RevocationOptions | undefined
  /**
   * Accepts tokens that are bound to a key, with a proof of that key. Default: such tokens are refused. Needs `verifyRequest`, or one of
   * the adapters.
   */
  readonly dpop?: ProofOptions | undefined
  /** The current time in milliseconds, for tests. */
  readonly now?: (() => number) | undefined
}

type Rule = readonly [wanted: string, isAllowed: (value: unknown) => boolean]

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const rules: { readonly [Name in keyof VerifierOptions]-?: Rule } = {
  authUrl: ['a string or a URL', (value) => isText(value) || value instanceof URL],
  secret: [
    'a string that is not empty: is AUTH_JWT_SECRET set?',
    (value) => isText(value) && value !== '',
  ],
  jwks: [
    'an object { keys: […] }, as returned by GET /.well-known/jwks.json',
    (value) => Array.isArray((value as { readonly keys?: unknown } | null)?.keys),
  ],
  audience: ['a string or a list of strings', (value) => isText(value) || isTextList(value)],
  issuer: ['a string', isText],
  roles: ['a list, such as ["authenticated"]', isTextList],
  aal: ['"aal1" or "aal2"', (value) => value === 'aal1' || value === 'aal2'],
  clockToleranceSeconds: [
    'a number of seconds, zero or more',
    (value) => Number.isFinite(value) && Number(value) >= 0,
  ],
  revocation: [
    'an object with the key that may read revocations, such as { key: process.env.AUTH_REVOCATION_KEY }: is its environment variable set?',
    (value) => {
      const { key } = Object(value)
      return (isText(key) && key !== '') || typeof key === 'function'
    },
  ],
  dpop: [
    'an object with the URL of the API, such as { url: "https://api.example.com" }',
    (value) => isAddress(String(Object(value).url)),
  ],
  now: ['a function', (value) => typeof value === 'function'],
}

/** Rejects options with which a verifier would accept too many tokens or none. */
export function checkOptions(options: VerifierOptions): void {
  checkNames('createVerifier', options, Object.keys(rules))
  for (const [name, [wanted, isAllowed]] of Object.entries(rules)) {
    const value = options[name as keyof VerifierOptions]
    if (value !== undefined && !isAllowed(value))
      throw new TypeError(`createVerifier: option "${name}" must be ${wanted}`)
  }
  const { authUrl, secret, jwks } = options
  if (authUrl === undefined && secret === undefined && jwks === undefined) {
    const empty = ['authUrl', 'secret', 'jwks'].find((name) => name in options)
    const hint = empty ? `. "${empty}" is undefined: is its environment variable set?` : ''
    throw new TypeError(
      `createVerifier needs a way to verify signatures: "authUrl", "secret" or "jwks"${hint}`,
    )
  }
  if (authUrl !== undefined && jwks !== undefined)
    throw new TypeError(
      'createVerifier takes keys from "authUrl" or "jwks", not from both: leave one out',
    )
  if (options.dpop !== undefined) checkProofs(options.dpop)
  if (options.revocation !== undefined) checkRevocation(options.revocation, authUrl)
  if (authUrl !== undefined && !isAddress(String(authUrl)))
    throw new TypeError(
      `"authUrl" must be the address of the auth server, like https://auth.example.com; it is "${authUrl}"`,
    )
}

const revocationNames: readonly (keyof RevocationOptions)[] = [
  'key',
  'authUrl',
  'ifUnavailable',
  'maxSilenceSeconds',
  'warn',
]

function checkRevocation(options: RevocationOptions, ofVerifier: string | URL | undefined): void {
  checkNames('Option "revocation"', options, revocationNames)
  const { authUrl = ofVerifier, ifUnavailable = 'refuse', maxSilenceSeconds = 5 } = options
  if (authUrl === undefined || !isAddress(String(authUrl)))
    throw new TypeError(
      'Option "revocation" needs the address of the auth server, like { authUrl: "https://auth.example.com" }',
    )
  if (ifUnavailable !== 'refuse' && ifUnavailable !== 'allow')
    throw new TypeError('Option "revocation.ifUnavailable" must be "refuse" or "allow"')
  if (!(Number.isFinite(maxSilenceSeconds) && maxSilenceSeconds > 1))
    throw new TypeError('Option "revocation.maxSilenceSeconds" must be more than 1')
}

const proofNames: readonly (keyof ProofOptions)[] = ['url', 'maxAgeSeconds', 'claim']

function checkProofs(options: ProofOptions): void {
  checkNames('Option "dpop"', options, proofNames)
  const { maxAgeSeconds = 60, claim } = options
  if (!(Number.isFinite(maxAgeSeconds) && maxAgeSeconds > 0))
    throw new TypeError('Option "dpop.maxAgeSeconds" must be a number of seconds')
  if (claim !== undefined && typeof claim !== 'function')
    throw new TypeError('Option "dpop.claim" must be a function')
}

function isAddress(url: string): boolean {
  return /^https?:\/\/[^/]/.test(url) && URL.canParse(url) && !url.includes('/.well-known/')
}

/** @throws {TypeError} if the options are not an object, or one of them has an unknown name. */
export function checkNames(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${what}: pass an object of options`)
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const advice = toQuestion(unknown, known) || ` Options: ${known.join(', ')}`
  throw new TypeError(`${what} has no option "${unknown}".${advice}`)
}
