import assert from 'node:assert/strict'
import { test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, readStatistics, toResponse } from '../support/service-client.ts'
import { openLoad } from '../support/service-load.ts'
import { startService, until } from '../support/service-process.ts'

/** Two rules that every load changes together. */
const toRules = (requests: number, more = '') => `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: day, requests_per_unit: ${requests} } }
  - { key: b, rate_limit: { unit: day, requests_per_unit: ${requests} } }
${more}`

const request = requestFor(
  'd',
  descriptor('a=v', { hitsAddend: 0 }),
  descriptor('b=v', { hitsAddend: 0 }),
)

async function readLoads(service: { readonly debugUrl: string }) {
  const statistics = await readStatistics(service)
  const read = (name: string) => statistics.get(`ratelimit.service.config_load_${name}`)
  return { successes: read('success'), errors: read('error') }
}

test('rules change under load without a failed call, and always as a whole', async (t) => {
  const service = await startService(t, { rules: toRules(1_000_000) })
  const load = await openLoad(t, service, {
    clients: 10,
    toRequest: () => request,
    pauseMs: 5,
  })
  const limitsOf = (response: Buffer) =>
    toResponse({ code: 0, message: '', response, headers: {}, trailers: {} }).statuses.map(
      ({ currentLimit }) => currentLimit?.requestsPerUnit,
    )
  const rounds = [1, 2, 3, 4, 5, 6].map((round) => 1_000_000 + round)
  for (const requests of rounds) {
    const from = performance.now()
    await service.rules.replace(toRules(requests))
    await until(
      () => load.since(from).some(({ response }) => limitsOf(response)[0] === requests),
      () => `rules ${requests} were in force`,
    )
  }
  await load.stop()
  const known = new Set([1_000_000, ...rounds])
  for (const { code, message, response } of load.calls) {
    assert.equal(code, 0, message)
    const [a = 0, b] = limitsOf(response)
    assert.equal(a, b)
    assert.ok(known.has(a))
  }
  assert.equal((await readLoads(service)).errors, 0)
})

test('an invalid file changes only a counter, until it is corrected', async (t) => {
  const service = await openService(t, { rules: toRules(5) })
  const { decide } = await openDecisionClient(t, service)
  const limitNow = async () => (await decide(request)).statuses[0]?.currentLimit?.requestsPerUnit
  assert.deepEqual(await readLoads(service), { successes: 1, errors: 0 })

  const broken = {
    'Flow sequence': 'domain: [',
    duplicate: toRules(7, '  - { key: a }\n'),
    fortnight: toRules(
      7,
      '  - { key: c, rate_limit: { unit: fortnight, requests_per_unit: 1 } }\n',
    ),
  }
  for (const [reason, text] of Object.entries(broken)) {
    await service.rules.replace(text)
    const logged = new RegExp(`Error loading new configuration: rules\\.yaml: .*(?:${reason})`)
    await until(
      () => service.log.some((line) => logged.test(line)),
      () => `the error was logged; the log:\n${service.log.join('\n')}`,
    )
    assert.equal(await limitNow(), 5)
  }
  assert.equal((await fetch(`${service.httpUrl}/healthcheck`)).status, 200)

  await service.rules.replace(toRules(9))
  await until(
    async () => (await limitNow()) === 9,
    () => 'the corrected file was loaded',
  )
  // On a busy machine there may be two events for one change, so that the same file is loaded again.
  const { successes = 0, errors = 0 } = await readLoads(service)
  assert.ok(successes >= 2 && errors >= 3, `${successes} successes, ${errors} errors`)
})

test('counts are kept when a limit changes', async (t) => {
  const service = await openService(t, { rules: toRules(5) })
  const { decide } = await openDecisionClient(t, service)
  await decide(requestFor('d', descriptor('a=v', { hitsAddend: 5 })))
  await service.rules.replace(toRules(20))
  await until(
    async () => (await decide(request)).statuses[0]?.limitRemaining === 15,
    () => 'the raised limit had room',
  )
})
