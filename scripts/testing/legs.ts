// The legs of a test run. A leg is a set of test files that run in the same environment; a file
// names its legs in its header.

import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'

export interface Leg {
  readonly title: string
  readonly node: () => string
  readonly nodeArgs: readonly string[]
  /** EXPECTED_* let tests check that the environment of the leg matches its title. */
  readonly env: Readonly<Record<string, string>>
  /** Runs only when it is named: `npm test -- --leg NAME`. */
  readonly isOnDemand?: true
  /** Runs in a second sequence, at the same time as the first, so that no core waits for the end of a leg. */
  readonly isConcurrent?: true
  /** A process in which no test ends for this long is considered hanging. */
  readonly hangLimitMs: number
}

export type LegName = 'main' | 'safety' | 'oldest' | 'endurance'

const minuteMs = 60_000

/** Far above the slowest test on a busy machine: the limit is for hangs, not for slow tests. */
const hangLimitMs = 10 * minuteMs

const pinned = { node: () => process.execPath, nodeArgs: [] }

export const legs: Readonly<Record<LegName, Leg>> = {
  main: {
    title: 'main: Node 24, graphql 17',
    ...pinned,
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '17' },
    hangLimitMs,
  },
  safety: {
    title: 'safety: attacks, faults, fuzz, workers, kill -9',
    ...pinned,
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '17' },
    isConcurrent: true,
    hangLimitMs,
  },
  // The newest versions run in `main`, so the two legs are the corners of the matrix of versions.
  oldest: {
    title: 'oldest: Node 22, graphql 16',
    node: () => runtime('node22'),
    nodeArgs: [
      '--import',
      './packages/graphql-over-http/test/support/graphql-16.ts',
      // Node 22 prints a warning when it strips types, also in the tests' own processes.
      '--disable-warning=ExperimentalWarning',
    ],
    env: { EXPECTED_NODE: '22', EXPECTED_GRAPHQL: '16', REPEATS_MAIN_LEG: 'true' },
    isConcurrent: true,
    hangLimitMs,
  },
  endurance: {
    title: 'endurance: soak, 200 kills, long fuzz',
    ...pinned,
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '17', PORTCULLIS_ENDURANCE: 'true' },
    isOnDemand: true,
    hangLimitMs: 120 * minuteMs,
  },
}

export function isLegName(name: string): name is LegName {
  return Object.hasOwn(legs, name)
}
