import { Statistics } from '../../../../src/stats/registry.ts'
import type { SinkContext } from '../../../../src/stats/sinks/sink.ts'
import { collectLog } from '../../../support/collected-log.ts'

export interface TestSinkContext extends SinkContext {
  readonly logLines: string[]
}

export interface TestOptions {
  readonly maxRequestKeys?: number
  readonly domains?: readonly string[]
  readonly processGauges?: SinkContext['processGauges']
}

export function createSinkContext(options: TestOptions = {}): TestSinkContext {
  const { maxRequestKeys = 1_000, domains = [], processGauges = () => [] } = options
  const { log, lines } = collectLog()
  return {
    statistics: new Statistics({ maxRequestKeys }),
    log,
    logLines: lines,
    now: () => 1_700_000_000_123,
    processGauges,
    hasDomain: (domain) => domains.includes(domain),
  }
}

/** A flush interval that never ends, so that tests flush manually. */
export const neverMs = 2 ** 31 - 1
