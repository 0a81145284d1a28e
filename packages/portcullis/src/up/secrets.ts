import { createECDH, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { toCode } from '@portcullis/service-kit/text/reason'
import { UpRefusal } from './errors.ts'
import { mintToken } from './mint-token.ts'
import { readPrivateFile, restrictToOwner } from './private-files.ts'

/** Anyone with these secrets can sign in as any user and open the console. */
export interface Secrets {
  readonly jwtSecret: string
  readonly consoleToken: string
  readonly smsSecret: string
}

export const secretsFile = 'secrets.json'

/** Creates the secrets at the first start, readable by their owner only; later starts reuse them. */
export function provideSecrets(folder: string): Secrets {
  const path = join(folder, secretsFile)
  const secrets: Secrets = {
    jwtSecret: randomBytes(48).toString('base64url'),
    consoleToken: randomBytes(24).toString('base64url'),
    smsSecret: randomBytes(24).toString('base64url'),
  }
  try {
    writeFileSync(path, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return secrets
  } catch (error) {
    if (toCode(error) !== 'EEXIST') throw error
  }
  return readSecrets(path)
}

function readSecrets(path: string): Secrets {
  // A copied or restored file may have become readable by others.
  restrictToOwner(path)
  const secrets = parseSecrets(readPrivateFile(path) ?? '')
  if (secrets !== undefined) return secrets
  throw new UpRefusal(
    `${path} is damaged. Restore the file, or start over with --fresh, ` +
      'which also deletes all users.',
  )
}

/** Returns the secrets of a data folder for other commands; undefined if there are none that can be used. */
export function findSecrets(folder: string): Secrets | undefined {
  try {
    return parseSecrets(readPrivateFile(join(folder, secretsFile)) ?? '')
  } catch {
    return undefined
  }
}

/** Undefined if the text is not a valid secrets file. */
export function parseSecrets(text: string): Secrets | undefined {
  let found: Partial<Record<keyof Secrets, unknown>> | null
  try {
    found = JSON.parse(text)
  } catch {
    return undefined
  }
  const { jwtSecret, consoleToken, smsSecret } = found ?? {}
  if (!isSecret(jwtSecret) || !isSecret(consoleToken) || !isSecret(smsSecret)) return undefined
  return { jwtSecret, consoleToken, smsSecret }
}

/** Shorter secrets could be guessed, and other characters would have to be escaped in URLs. */
function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{32,}$/.test(value)
}

/**
 * The private key that signs access tokens (ES256), as a JWK. OAuth clients need its public key to verify tokens. It is
 * derived from the JWT secret, because data folders of earlier versions contain no other secret.
 */
export function toSigningKey({ jwtSecret }: Pick<Secrets, 'jwtSecret'>) {
  const secret = createHmac('sha256', jwtSecret).update('AUTH_JWT_KEYS').digest()
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(secret)
  // One byte, then the two coordinates.
  const point = pair.getPublicKey()
  const x = point.subarray(1, 33).toString('base64url')
  return {
    kty: 'EC',
    crv: 'P-256',
    x,
    y: point.subarray(33).toString('base64url'),
    d: secret.toString('base64url'),
    // Another data folder has another key, and clients cache keys by their ids.
    kid: x.slice(0, 8),
    alg: 'ES256',
    key_ops: ['sign', 'verify'],
  } as const
}

const lifetimeSeconds = 300
const renewSeconds = 60

/** Creates short-lived keys for the admin endpoints of the local auth server. */
export function createAdminKeys(jwtSecret: string): () => Promise<string> {
  return createKeys(jwtSecret, { role: 'service_role', subject: 'portcullis-console' })
}

/** Creates short-lived keys with which the API verifies API keys. */
export function createVerifierKeys(jwtSecret: string): () => Promise<string> {
  return createKeys(jwtSecret, { role: 'token_verifier', subject: 'portcullis-api' })
}

function createKeys(
  jwtSecret: string,
  claims: { readonly role: string; readonly subject: string },
): () => Promise<string> {
  let key: Promise<string> | undefined
  let madeAt = 0
  return () => {
    const now = Date.now() / 1000
    if (key !== undefined && now < madeAt + lifetimeSeconds - renewSeconds) return key
    madeAt = now
    key = mintToken(jwtSecret, {
      ...claims,
      audience: 'authenticated',
      expiresInSeconds: lifetimeSeconds,
    })
    return key
  }
}

/** Creates keys that may only read revocations. Each is used to open one connection. */
export function createRevocationKeys(jwtSecret: string): () => Promise<string> {
  return () =>
    mintToken(jwtSecret, {
      role: 'token_verifier',
      audience: 'authenticated',
      expiresInSeconds: lifetimeSeconds,
    })
}

const name = 'x-portcullis-audit'

/**
 * Audits of the local API send dozens of requests per second. These headers exempt them from the limits; they
 * can be computed only with the console's token.
 */
export function toAuditHeaders({ consoleToken }: Secrets): Readonly<Record<string, string>> {
  const pass = createHmac('sha256', consoleToken).update('audits pass the limits').digest('hex')
  return { [name]: pass }
}

/** Returns whether a request counts towards the limits; the console's audits do not. */
export function createCountsRequest(secrets: Secrets): (request: IncomingMessage) => boolean {
  const pass = Buffer.from(toAuditHeaders(secrets)[name] ?? '')
  return ({ headers }) => {
    const shown = Buffer.from(String(headers[name] ?? ''))
    return shown.length !== pass.length || !timingSafeEqual(shown, pass)
  }
}

/**
 * The DEBUG_TOKEN of the rate limit service. The console and the commands send it, because they are not always on the
 * loopback interface. It can be computed only with the console's token; a value in the environment is used instead.
 */
export function toDebugToken(
  { consoleToken }: Secrets,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const derived = createHmac('sha256', consoleToken).update('debug pages of limits').digest('hex')
  return env['DEBUG_TOKEN'] || derived
}
