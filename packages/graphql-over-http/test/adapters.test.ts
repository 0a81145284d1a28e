/**
 * @legs main, oldest
 * @slow
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { runAudits, serverAudits } from '../src/audits/index.ts'
import type { OpenHost } from './support/hosts/host.ts'
import { hosts, isRepetition } from './support/hosts/index.ts'

/**
 * The path of each profile: one is audited with the 61 audits, the other with all audits that fit
 * the draft.
 */
const profiles = [
  { path: '/graphql', profile: 'classic', count: 61 },
  { path: '/2026', profile: '2026', count: 117 },
] as const

/**
 * An empty body and a bare string. A body parser in front of the handler answers these itself, or
 * turns them into `{}`.
 */
const answeredByParser = new Set(['A5BF', 'X2B0'])

for (const [index, host] of hosts.entries()) {
  describe(`${host.name} passes the audit`, () => {
    let opened: OpenHost
    before(async () => {
      opened = await host.open()
    })
    after(() => opened.close())

    for (const { path, profile, count } of profiles) {
      // The profile does not depend on the host, so a repetition needs the longer list on one host
      // only.
      if (isRepetition && profile === '2026' && index > 0) continue
      // One test for all audits, since thousands of tests would take longer than their requests.
      test(`${profile}: each of the ${count} audits`, async () => {
        const all = serverAudits({
          url: () => opened.origin + path,
          fetchFn: (input: RequestInfo, init?: RequestInit) => opened.fetch(input, init),
          profile,
          extended: profile === '2026',
        })
        assert.equal(all.length, count)
        const isAnsweredBefore = profile === '2026' && host.limits?.parsesBodyItself
        const audits = all.filter(({ id }) => !isAnsweredBefore || !answeredByParser.has(id))
        const results = await runAudits(audits, { concurrency: 1 })
        const failures = results.flatMap((result) =>
          result.status === 'ok' ? [] : [`${result.id} ${result.name}: ${result.reason}`],
        )
        assert.deepEqual(failures, [])
      })
    }

    test('without writing to the log', async () => {
      const { errors, pending } = await opened.take()
      assert.deepEqual(errors, [])
      assert.equal(pending, 0)
    })
  })
}
