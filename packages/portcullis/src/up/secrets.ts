import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeToOthers, readPrivateFile } from './private-files.ts'
import { UpRefusal } from './refusal.ts'

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
