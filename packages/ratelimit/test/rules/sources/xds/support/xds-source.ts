import type { TestContext } from 'node:test'
import type { RuleSnapshot } from '../../../../../src/rules/match/snapshot.ts'
import type { LoadFailure } from '../../../../../src/rules/sources/source.ts'
import {
  openXdsSource,
  type XdsSourceOptions,
} from '../../../../../src/rules/sources/xds/xds-source.ts'
import { RuleStatistics } from '../../../../../src/stats/rule-statistics.ts'
import { collectLog } from '../../../../support/collected-log.ts'
import { toDescriptor } from '../../../../support/nested-rules.ts'

/** An xDS source with its log lines and snapshots. */
export interface WatchedSource {
  readonly snapshots: readonly RuleSnapshot[]
  readonly failures: readonly LoadFailure[]
  readonly lines: readonly string[]
  readonly firstAttempt: Promise<void>
  /** Whether the first attempt is over. */
  readonly hasTried: boolean
  /** The number of requests of the rule in force; undefined without one. */
  requests(domain?: string): number | undefined
  close(): Promise<void>
}

type Settings = Pick<XdsSourceOptions, 'serverUrl'> & Partial<XdsSourceOptions>

/** Opens a source that is closed after the test. Its waits are short and not random. */
export function openSource(t: TestContext, settings: Settings): WatchedSource {
  const snapshots: RuleSnapshot[] = []
  const failures: LoadFailure[] = []
  const { log, lines } = collectLog()
  const source = openXdsSource({
    nodeId: 'default',
    nodeMetadata: new Map(),
    headers: new Map(),
    connectRetryMs: 20,
    backoff: { initialMs: 20, maxMs: 200, randomFactor: 0 },
    maxMessageBytes: 4 * 1024 * 1024,
    tls: undefined,
    mergeDomains: false,
    log,
    counters: new RuleStatistics(1_000, () => {}),
    onSnapshot: (snapshot) => snapshots.push(snapshot),
    onFailure: (failure) => failures.push(failure),
    ...settings,
  })
  let hasTried = false
  void source.firstAttempt.then(() => {
    hasTried = true
  })
  const close = async () => source[Symbol.asyncDispose]()
  t.after(close)
  return {
    snapshots,
    failures,
    lines,
    firstAttempt: source.firstAttempt,
    get hasTried() {
      return hasTried
    },
    requests: (domain = 'd') =>
      snapshots.at(-1)?.match(domain, toDescriptor('k=v'))?.limit.requestsPerUnit,
    close,
  }
}
