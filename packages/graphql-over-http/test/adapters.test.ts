import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { serverAudits } from '../src/audits/index.ts'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts } from './support/hosts/index.ts'

/** Where each profile is mounted: the 61 audits on one, all that fit the draft on the other. */
const profiles = [
  ['/graphql', 'classic'],
  ['/2026', '2026'],
] as const

/** An empty body and a bare string: a body parser in front answers these, or makes `{}` of them. */
const fateOfParser = new Set(['A5BF', 'X2B0'])

for (const host of hosts) {
  describe(`${host.name} passes the audit`, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    for (const [path, profile] of profiles) {
      const audits = serverAudits({
        url: () => opened.origin + path,
        fetchFn: (input: RequestInfo, init?: RequestInit) => opened.fetch(input, init),
        profile,
        extended: profile === '2026',
      })
      for (const audit of audits) {
        if (profile === '2026' && host.limits?.parsesBodyItself && fateOfParser.has(audit.id))
          continue
        test(`${profile}: ${audit.id} ${audit.name}`, async () => {
          const result = await audit.fn()
          assert.equal(result.status, 'ok', 'reason' in result ? result.reason : '')
        })
      }
    }

    test('without a word in the log', async () => {
      const { errors, pending } = await opened.take()
      assert.deepEqual(errors, [])
      assert.equal(pending, 0)
    })
  })
}
