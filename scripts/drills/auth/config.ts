import assert from 'node:assert/strict'
import type { Copy } from '../drill.ts'

type ConfigModule = typeof import('../../../packages/auth/src/config/config.ts')

const required = {
  AUTH_SITE_URL: 'https://site.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example',
  AUTH_JWT_SECRET: 'a secret of at least thirty-two bytes',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_DB_DATABASE_URL: 'postgres://db.example/auth',
  AUTH_MAILER_AUTOCONFIRM: 'true',
}

/** The configuration that the copy reads from these variables and the required ones. */
export async function parseCopiedConfig(copy: Copy, env: Readonly<Record<string, string>>) {
  const { parseConfig } = await copy.load<ConfigModule>('src/config/config.ts')
  const { config, faults } = parseConfig({ ...required, ...env })
  assert.deepEqual(faults, [])
  return config
}
