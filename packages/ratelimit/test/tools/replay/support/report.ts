import type { TestContext } from 'node:test'
import type { LogSummary } from '../../../../src/tools/replay/replay.ts'
import { type Report, toReport } from '../../../../src/tools/replay/report/report.ts'
import { openSimulation, toRecorded } from './simulation.ts'

export const start = Date.parse('2026-01-01T00:00:00Z')

export const summary: LogSummary = {
  lines: 0,
  unreadable: 0,
  examples: [],
  withoutDescriptors: 0,
  requests: 0,
  late: 0,
  firstMs: start,
  lastMs: start + 3_600_000,
  isCut: false,
  error: undefined,
}

/** The report of rules for one request per second of one user, for an hour. */
export function reportOf(
  t: TestContext,
  yaml: string,
  descriptor = 'user=a',
  log: Partial<LogSummary> = {},
): Report {
  const simulation = openSimulation(t, yaml)
  for (let second = 0; second < 3600; second += 1) {
    simulation.run(toRecorded(0, 'api', [descriptor]), start + second * 1000)
  }
  const settings = { rules: 'config', logs: ['log'], top: 10 }
  return toReport(simulation, { ...summary, lines: 3600, ...log }, settings)
}

export function perMinute(most: number, key = 'user'): string {
  const limit = `{ unit: minute, requests_per_unit: ${most} }`
  return `domain: api\ndescriptors:\n  - { key: ${JSON.stringify(key)}, rate_limit: ${limit} }\n`
}
