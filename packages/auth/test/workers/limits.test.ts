/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { openConnection } from '../support/kept-connection.ts'

/** One address has many connections, as in a load test or behind an untrusted proxy. */
const connections = 64
const requests = 25

for (const [name, value] of [
  ['a very high limit', '900000000'],
  ['a disabled limit', 'off'],
] as const) {
  test(`four workers refuse nothing with ${name}`, async (t) => {
    const env = await openMigratedEnvironment(t)
    if (!env) return
    const server = await startAuth(t, ['up'], {
      ...env,
      WORKERS: '4',
      AUTH_RATE_LIMIT_TOKEN_REFRESH: value,
    })
    const statuses = new Set<number>()
    const lanes = Array.from({ length: connections }, async () => {
      const connection = openConnection(t, server.url)
      for (let at = 0; at < requests; at += 1) {
        const answer = await connection.send('/token?grant_type=refresh_token', {
          refresh_token: 'unknown',
        })
        statuses.add(answer.status)
      }
    })
    await Promise.all(lanes)
    assert.deepEqual([...statuses], [400])
  })
}
