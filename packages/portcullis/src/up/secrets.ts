import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whoever knows them can sign in as anybody, and open the console. */
export interface Secrets {
  readonly jwtSecret: string
  readonly consoleToken: string
  readonly smsSecret: string
}

/** Made at the first start, for the eyes of their owner only; the same ones at the next. */
export function provideSecrets(folder: string): Secrets {
  const path = join(folder, 'secrets.json')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
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
  return JSON.parse(readFileSync(path, 'utf8'))
}
