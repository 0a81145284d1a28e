import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { serverAudits } from '../src/audits/index.ts'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts } from './support/hosts/index.ts'

for (const host of hosts) {
  describe(`${host.name} passes the audit`, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    const audits = serverAudits({
      url: () => `${opened.origin}/graphql`,
      fetchFn: (input: RequestInfo, init?: RequestInit) => opened.fetch(input, init),
    })

    for (const audit of audits) {
      test(`${audit.id} ${audit.name}`, async () => {
        const result = await audit.fn()
        assert.equal(result.status, 'ok', 'reason' in result ? result.reason : '')
      })
    }

    test('without a word in the log', async () => {
      const { errors, pending } = await opened.take()
      assert.deepEqual(errors, [])
      assert.equal(pending, 0)
    })
  })
}
