import { type Charge, Tally } from '../../src/decide/tally.ts'
import { RuleCounters } from '../../src/stats/rule-counters.ts'

/** A tally of a limit of 10 hits a minute. */
export function toTally(charge: Partial<Charge> = {}): Tally {
  return new Tally({
    key: 'd_k_v_',
    unitSeconds: 60,
    unit: 2,
    requestsPerUnit: 10,
    name: '',
    charge: 1,
    isRefund: false,
    isQuota: false,
    isShadowRule: false,
    isSliding: false,
    counters: new RuleCounters(),
    metadata: undefined,
    ...charge,
  })
}
