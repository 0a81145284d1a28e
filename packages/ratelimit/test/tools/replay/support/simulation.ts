import type { TestContext } from 'node:test'
import { parseRuleFiles } from '../../../../src/rules/yaml/parse.ts'
import type { RecordedRequest } from '../../../../src/tools/replay/recorded-request.ts'
import {
  Simulation,
  type SimulationSettings,
} from '../../../../src/tools/replay/simulation/simulation.ts'

const defaults: SimulationSettings['decisions'] = {
  cacheKeyPrefix: '',
  keyFormat: 'exact',
  nearLimitRatio: 0.8,
  isShadowMode: false,
  isQuotaMode: false,
  stopsIncrementWhenOver: false,
  headerNames: undefined,
  addsDynamicMetadata: false,
}

/** Opens a simulation with the rules of one file. It is closed after the test. */
export function openSimulation(
  t: Pick<TestContext, 'after'>,
  yaml: string,
  decisions: Partial<SimulationSettings['decisions']> = {},
  maxBytes = 2 ** 26,
): Simulation {
  const { rules, faults } = parseRuleFiles([{ name: 'rules.yaml', text: yaml }], {
    mergeDomains: false,
  })
  if (faults[0] !== undefined) throw new Error(faults[0].message)
  const simulation = new Simulation(rules, {
    decisions: { ...defaults, ...decisions },
    maxBytes,
    hasRuleSeries: true,
  })
  t.after(() => simulation[Symbol.asyncDispose]())
  return simulation
}

/** A request whose descriptors are written `key=value key=value`. */
export function toRecorded(
  timeMs: number,
  domain: string,
  descriptors: readonly string[],
  hitsAddend = 1,
): RecordedRequest {
  return {
    timeMs,
    domain,
    hitsAddend,
    descriptors: descriptors.map((text) => ({
      entries: text.split(' ').map((entry) => {
        const [key = '', value = ''] = entry.split('=')
        return { key, value }
      }),
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
  }
}
