import assert from 'node:assert/strict'
import type { Copy } from '../drill.ts'

type ConfigModule = typeof import('../../../packages/ratelimit/src/config/config.ts')

/** The configuration of the copied rate limit service. */
export async function parseCopiedConfig(copy: Copy, env: Readonly<Record<string, string>>) {
  const { parseConfig } = await copy.load<ConfigModule>('src/config/config.ts')
  const { config, faults } = parseConfig(env)
  assert.deepEqual(faults, [])
  return config
}
