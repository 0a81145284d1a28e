// What `npm test` runs: which test files, on which Node, with which graphql.

import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'

export const root = dirname(dirname(import.meta.dirname))

const library = 'packages/graphql-over-http/test'

export interface Leg {
  readonly title: string
  readonly node: () => string
  readonly nodeArgs: readonly string[]
  /**
   * What the tests of the set-up itself check: that the leg is what its title says. And whether it repeats
   * what the first one has shown.
   */
  readonly env: Readonly<Record<string, string>>
  readonly files: () => string[]
  /** Whether files that get along run in one process. */
  readonly sharesProcesses?: true
  /** Only when it is asked for. */
  readonly isOnDemand?: true
}

export type LegName = 'main' | 'graphql-16' | 'node-22' | 'long'

export const legs: Readonly<Record<LegName, Leg>> = {
  main: {
    title: 'Node 24, graphql 17',
    node: () => process.execPath,
    nodeArgs: [],
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '17' },
    files: () => toSorted(findTestFiles().filter((file) => !isLong(file))),
    sharesProcesses: true,
  },
  'graphql-16': {
    title: 'Node 24, graphql 16',
    node: () => process.execPath,
    nodeArgs: ['--import', `./${library}/support/graphql-16.ts`],
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '16', REPEATS_MAIN_LEG: 'true' },
    files: () => findRepeatedFiles('graphql-16'),
    sharesProcesses: true,
  },
  'node-22': {
    title: 'Node 22, graphql 17',
    node: () => runtime('node22'),
    // Node 22 announces that it strips types; it does so in the tests' own processes too.
    nodeArgs: ['--disable-warning=ExperimentalWarning'],
    env: { EXPECTED_NODE: '22', EXPECTED_GRAPHQL: '17', REPEATS_MAIN_LEG: 'true' },
    files: () => findRepeatedFiles('node-22'),
    sharesProcesses: true,
  },
  long: {
    title: 'Node 24, long proofs',
    node: () => process.execPath,
    nodeArgs: [],
    env: { EXPECTED_NODE: '24', EXPECTED_GRAPHQL: '17' },
    files: () => findTestFiles().filter(isLong),
    isOnDemand: true,
  },
}

/**
 * What kills, freezes and floods real servers again and again. Together they take minutes of two cores,
 * and `npm test` has ten for everything: run them when you touch what they are about.
 */
const longProofs: readonly RegExp[] = [
  /^packages\/auth\/test\/faults\//,
  /^packages\/auth\/test\/workers\//,
  /^packages\/auth\/test\/db\/embedded-(?:crash|places)\./,
  /^packages\/graphql-over-http\/test\/client-memory\./,
  /^packages\/grpc-unary\/test\/(?:attacks|fuzz)\//,
  /^packages\/ratelimit\/test\/(?:faults|workers)\//,
  /^packages\/ratelimit\/test\/service\/(?:fuzz|over-admission)\./,
  /^packages\/ratelimit\/test\/tracing\/outage\./,
  /^packages\/test-servers\/test\/faults\./,
]

function isLong(file: string): boolean {
  return longProofs.some((pattern) => pattern.test(file))
}

/** Those that take a minute: begun last, they would run on alone when all others have ended. */
const slowest =
  /\/(?:console\/console|service\/decisions|test\/adapters|client\/browser)\.test\.ts$/

function toSorted(files: readonly string[]): string[] {
  return files.toSorted((a, b) => Number(slowest.test(b)) - Number(slowest.test(a)))
}

interface Exception {
  /** For the file's name. */
  readonly pattern: RegExp
  readonly why: string
  /** The leg that leaves the file out; without it, all but the main one. */
  readonly leg?: LegName
}

/** The library's test files of which another leg would only repeat the answer. */
const notRepeated: readonly Exception[] = [
  { pattern: /memory/, why: 'measures the heap, takes long, and has limits for the pinned Node' },
  { pattern: /^types/, why: 'asks the compiler, which is the same everywhere' },
  { pattern: /^cli/, why: 'starts processes of its own on the pinned Node' },
  { pattern: /^(examples|docs)/, why: 'starts a process for every example' },
  { pattern: /^browser/, why: 'runs in a browser, which is the same everywhere' },
  { pattern: /^client/, why: 'the client does not use graphql', leg: 'graphql-16' },
  {
    pattern: /^adapters-(?:bad-input|connections)/,
    why: 'what it sends is refused before graphql sees it, by the same reader on every Node',
  },
]

const testFiles = [
  'packages/*/test/**/*.test.ts',
  'packages/*/bench/test/*.test.ts',
  'scripts/**/test/**/*.test.ts',
]

export function findTestFiles(): string[] {
  return globSync(testFiles, { cwd: root, exclude: (name) => name.includes('node_modules') }).sort()
}

function findRepeatedFiles(leg: LegName): string[] {
  const isRepeated = (file: string) =>
    !notRepeated.some((rule) => (rule.leg ?? leg) === leg && rule.pattern.test(basename(file)))
  return findTestFiles().filter((file) => file.startsWith(join(library, '/')) && isRepeated(file))
}
