/**
 * @servers redis
 */
// Compares this service with envoyproxy/ratelimit: random rules and requests must get the same responses.

import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { type Scenario, scenarios, toYaml } from './rule-trees.ts'
import { findPeer, openServices, peerAdvice, type Services } from './services.ts'
import { type Variant, variants } from './variants.ts'

const peer = findPeer(process.env)
const numRuns = Number(process.env['RATELIMIT_DIFFERENTIAL_RUNS'] ?? 30)
const seed = process.env['RATELIMIT_DIFFERENTIAL_SEED']

/** The settings of a peer that is already running cannot be changed. */
const possible = Object.entries(variants).filter(
  ([, { env }]) => peer?.kind !== 'running' || Object.keys(env).length === 0,
)

for (const [name, variant] of possible) {
  const title = `random rules and requests get the same responses as in envoyproxy/ratelimit, ${name}`
  test(title, { skip: peer ? false : peerAdvice }, async (t) => {
    const services = peer && (await openServices(t, peer, variant))
    if (!services) return
    let run = 0
    await fc.assert(
      fc.asyncProperty(scenarios(variant.limits), async (scenario) => {
        await compare(services, scenario, variant, () => `random-${process.pid}-${run++}`)
      }),
      { numRuns, ...(seed !== undefined && { seed: Number(seed) }) },
    )
  })
}

test('both services share the keys of one Redis', {
  skip: peer?.kind === 'program' ? false : peerAdvice,
}, async (t) => {
  const services = peer && (await openServices(t, peer, { env: {}, isShared: true }))
  if (!services) return
  const limit = { unit: 'day', requests_per_unit: 10 }
  await services.load('fleet', [{ key: 'user', rate_limit: limit }])
  const descriptor = { entries: [{ key: 'user', value: 'é_1' }] }
  const request = { domain: 'fleet', descriptors: [descriptor] }
  const remaining: unknown[] = []
  for (let round = 0; round < 3; round++) {
    for (const client of services.clients) {
      const { statuses } = await client.call(request)
      const [status] = Array.isArray(statuses) ? statuses : []
      remaining.push(
        status && typeof status === 'object' && 'limitRemaining' in status && status.limitRemaining,
      )
    }
  }
  assert.deepEqual(remaining, [9, 8, 7, 6, 5, 4])
})

/** The time limit of a scenario, which must fit into one second of the clock. */
const scenarioMs = 400
const maxTries = 100

/**
 * Sends every request to all services and compares the responses. A scenario runs within one second of the
 * clock, so that windows and seconds until reset are the same for all. If it takes longer, it is repeated
 * with an unused domain.
 */
async function compare(
  services: Services,
  scenario: Scenario,
  { normalize = (answer) => answer }: Variant,
  nextDomain: () => string,
): Promise<void> {
  for (let count = 0; count < maxTries; count++) {
    const domain = nextDomain()
    await services.load(domain, scenario.rules)
    const msOfSecond = Date.now() % 1000
    if (msOfSecond > 1000 - scenarioMs) await wait(1001 - msOfSecond)
    const second = Math.floor(Date.now() / 1000)
    const answers: JsonObject[][] = []
    for (const request of scenario.requests) {
      answers.push(
        await Promise.all(services.clients.map((client) => client.call({ ...request, domain }))),
      )
    }
    if (Math.floor(Date.now() / 1000) !== second) continue
    answers.forEach((list, index) => {
      const [wanted = {}, ...others] = list.map(normalize)
      others.forEach((answer, position) => {
        const name = services.clients[position + 1]?.name
        assert.deepEqual(
          answer,
          wanted,
          `${name} answers request ${index} differently:\n${format(answer)}\nnot\n${format(wanted)}\n` +
            `to ${format(scenario.requests[index])}\nof rules\n${toYaml(domain, domain, scenario.rules)}`,
        )
      })
    })
    return
  }
  throw new Error(`A scenario did not fit into a second, ${maxTries} times`)
}

const format = (value: JsonObject | undefined) => JSON.stringify(value)
