import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { OpenHost } from './host.ts'

/**
 * Checks that after a client's misbehaviour nothing is left over, nothing was logged, and the next
 * client is served.
 */
export async function assertUnharmed(host: OpenHost): Promise<void> {
  const deadline = Date.now() + 30_000
  const errors: string[] = []
  for (;;) {
    const findings = await host.take()
    errors.push(...findings.errors)
    if (findings.pending === 0) break
    assert.ok(Date.now() < deadline, `${findings.pending} requests never settled`)
    await wait(10)
  }
  assert.deepEqual(errors, [])
  const response = await host.fetch(`${host.origin}/graphql?query={hello}`)
  assert.deepEqual(await response.json(), { data: { hello: 'world' } })
}
