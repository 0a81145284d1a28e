import { Statistics } from '../../../../src/stats/registry.ts'
import type { SinkSurroundings } from '../../../../src/stats/sinks/sink.ts'
import { collectLog } from '../../../support/collected-log.ts'

export interface TestSurroundings extends SinkSurroundings {
  readonly logLines: string[]
}

export interface TestOptions {
  readonly maxRequestKeys?: number
  readonly domains?: readonly string[]
  readonly processGauges?: SinkSurroundings['processGauges']
}

export function createSurroundings(options: TestOptions = {}): TestSurroundings {
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
