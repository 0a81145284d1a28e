import type { TestContext } from 'node:test'
import {
  type Descriptor,
  type DescriptorStatus,
  OVER_LIMIT,
  type RateLimitResponse,
} from '../../../src/protocol/message.ts'
import { requestFor } from '../../support/decider.ts'
import { openService, type TestApp } from '../../support/service-app.ts'
import { openDecisionClient, readRule } from '../../support/service-client.ts'
import type { StoreInside, TestStore } from '../../support/service-stores.ts'

/** A requirement for the service with any store. */
export interface Scenario {
  readonly name: string
  run(stage: Stage): Promise<void>
}

/** A requirement that also checks the content of the store, for stores that can be inspected. */
export interface InsideScenario {
  readonly name: string
  run(stage: Stage, inside: StoreInside): Promise<void>
}

/** A store, and a clock that all services of the scenario use. */
export interface Stage {
  readonly t: TestContext
  readonly store: TestStore
  /** The time in Unix seconds, which changes only when it is set. */
  now: number
  open(rules: string, env?: Readonly<Record<string, string>>): Promise<OpenStage>
}

/** A service on the stage, with a client. */
export interface OpenStage {
  readonly service: TestApp
  /** Makes a request for the domain `d`. */
  decide(...descriptors: Descriptor[]): Promise<RateLimitResponse>
  /** The statuses in short form, such as `OK 4`, `OVER 0`, or `none` if no limit applies. */
  brief(...descriptors: Descriptor[]): Promise<string[]>
  /** The statistics of a rule that are not 0. */
  statistics(key: string): Promise<Record<string, number>>
  client: Awaited<ReturnType<typeof openDecisionClient>>
}

export function createStage(t: TestContext, store: TestStore): Stage {
  const stage: Stage = {
    t,
    store,
    now: store.daySeconds + 80_000,
    async open(rules, env = {}) {
      const service = await openService(t, {
        rules,
        env: { ...store.env, ...env },
        now: () => stage.now * 1_000,
      })
      const client = await openDecisionClient(t, service)
      const decide = (...descriptors: Descriptor[]) =>
        client.decide(requestFor('d', ...descriptors))
      return {
        service,
        client,
        decide,
        brief: async (...descriptors) => (await decide(...descriptors)).statuses.map(toBrief),
        statistics: (key) => readRule(service, key),
      }
    },
  }
  return stage
}

export function toBrief({ code, currentLimit, limitRemaining }: DescriptorStatus): string {
  if (currentLimit === undefined) return limitRemaining === 0 ? 'none' : `none ${limitRemaining}`
  return `${code === OVER_LIMIT ? 'OVER' : 'OK'} ${limitRemaining}`
}

/** One top-level rule per line: `key[/value] unit/requests`, with more YAML after it. */
export function limit(key: string, requests: number, unit = 'hour', more = ''): string {
  const [name, value] = key.split('/')
  return [
    `  - key: ${name}`,
    ...(value === undefined ? [] : [`    value: ${JSON.stringify(value)}`]),
    `    rate_limit: { unit: ${unit}, requests_per_unit: ${requests} }`,
    ...(more === '' ? [] : [`    ${more}`]),
  ].join('\n')
}

export function domain(...rules: string[]): string {
  return ['domain: d', 'descriptors:', ...rules, ''].join('\n')
}
