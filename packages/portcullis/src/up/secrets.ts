import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { UpRefusal } from './errors.ts'
import { closeToOthers, readPrivateFile } from './private-files.ts'

/** Whoever knows them can sign in as anybody, and open the console. */
export interface Secrets {
  readonly jwtSecret: string
  readonly consoleToken: string
  readonly smsSecret: string
}

export const secretsFile = 'secrets.json'

/** Made at the first start, for the eyes of their owner only; the same ones at the next. */
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
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return readSecrets(path)
}

function readSecrets(path: string): Secrets {
  // Copied or restored, it may have become readable for others.
  closeToOthers(path)
  const secrets = parseSecrets(readPrivateFile(path) ?? '')
  if (secrets !== undefined) return secrets
  throw new UpRefusal(
    `The secrets in ${path} cannot be read. Put the file back as it was, or begin anew with --fresh, ` +
      'which also removes the users.',
  )
}

/** Undefined when these are no secrets of ours. */
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

/** What is shorter can be guessed, and what has other characters is no part of an address. */
function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{32,}$/.test(value)
}

const lifetimeSeconds = 300
const renewSeconds = 60

/** Keys for the admin endpoints of our own auth server, each good for minutes only. */
export function createAdminKeys(jwtSecret: string): () => Promise<string> {
  const secret = new TextEncoder().encode(jwtSecret)
  let key: Promise<string> | undefined
  let madeAt = 0
  return () => {
    const now = Date.now() / 1000
    if (key !== undefined && now < madeAt + lifetimeSeconds - renewSeconds) return key
    madeAt = now
    key = new SignJWT({ role: 'service_role' })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('authenticated')
      .setSubject('portcullis-console')
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSeconds}s`)
      .sign(secret)
    return key
  }
}

const name = 'x-portcullis-audit'

/**
 * The console's audits of our own API send dozens of requests a second. With this they are not counted;
 * nobody can make it who does not have the console's token.
 */
export function toAuditHeaders({ consoleToken }: Secrets): Readonly<Record<string, string>> {
  const pass = createHmac('sha256', consoleToken).update('audits pass the limits').digest('hex')
  return { [name]: pass }
}

/** Tells the requests of others from those of the console's audits. */
export function createCountsRequest(secrets: Secrets): (request: IncomingMessage) => boolean {
  const pass = Buffer.from(toAuditHeaders(secrets)[name] ?? '')
  return ({ headers }) => {
    const shown = Buffer.from(String(headers[name] ?? ''))
    return shown.length !== pass.length || !timingSafeEqual(shown, pass)
  }
}
