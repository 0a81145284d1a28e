import type { RuleFault, RuleSet } from '../../rules/index.ts'
import type { RuleFinding } from '../check/rule-files.ts'
import { parsePolicyTests } from './parse.ts'
import type { PolicyTest } from './policy-test.ts'
import { toMismatchText, toOutcomeLines } from './reports.ts'
import { PolicyTestRunner, type TestResult } from './run.ts'

/** Runs tests one after the other. */
export async function runAll(tests: readonly PolicyTest[], rules: RuleSet): Promise<TestResult[]> {
  await using runner = new PolicyTestRunner(rules)
  const results: TestResult[] = []
  for (const test of tests) results.push(await runner.run(test))
  return results
}

/** The result of one policy test. */
export interface PolicyTestResult {
  /** The name in the file. */
  readonly name: string
  /** Starts at 1. */
  readonly line: number
  /** How many requests were decided. */
  readonly requests: number
  /** Undefined if the test passed. */
  readonly failure: PolicyTestFailure | undefined
}

/** Why a policy test failed. */
export interface PolicyTestFailure {
  /** The expectations that were not met. */
  readonly mismatches: readonly {
    readonly line: number
    readonly column: number
    readonly message: string
  }[]
  /** What the rules decided for each descriptor of the request, and why. */
  readonly details: readonly string[]
}

/** The result of {@link runPolicyTests}. */
export interface PolicyTestReport {
  /** Errors in the file. If there are any, no test was run. */
  readonly findings: readonly RuleFinding[]
  /** In the order of the file. */
  readonly results: readonly PolicyTestResult[]
}

/** The options of {@link runPolicyTests}. */
export interface PolicyTestOptions {
  /** A file with more requests is refused with a finding. Default: no maximum. */
  readonly mostRequests?: number
}

/** Runs the tests of a `*.test.yaml` file against rules, in simulated time and with separate counters. */
export async function runPolicyTests(
  rules: RuleSet,
  file: { readonly name: string; readonly text: string },
  { mostRequests = Number.POSITIVE_INFINITY }: PolicyTestOptions = {},
): Promise<PolicyTestReport> {
  const { tests, faults } = parsePolicyTests(file)
  const findings = faults.map(toFinding)
  const requests = countRequests(tests)
  if (requests > mostRequests) findings.push(toTooMany(file.name, requests, mostRequests))
  if (findings.length > 0) return { findings, results: [] }
  return { findings: [], results: (await runAll(tests, rules)).map(toResult) }
}

/** Returns the errors of a `*.test.yaml` file, without running its tests. */
export function checkPolicyTests(file: {
  readonly name: string
  readonly text: string
}): RuleFinding[] {
  return parsePolicyTests(file).faults.map(toFinding)
}

function toFinding({ message, hint, place }: RuleFault): RuleFinding {
  return { severity: 'fault', ...place, message, hint }
}

function countRequests(tests: readonly PolicyTest[]): number {
  const steps = tests.flatMap((test) => test.steps)
  return steps.reduce((sum, step) => sum + (step.kind === 'request' ? step.times : 0), 0)
}

function toTooMany(file: string, requests: number, most: number): RuleFinding {
  return {
    severity: 'fault',
    file,
    line: undefined,
    column: undefined,
    message: `the tests send ${requests} requests, and at most ${most} are allowed here`,
    hint: 'run them with: ratelimit test DIR',
  }
}

function toResult({ test, requestCount, failure }: TestResult): PolicyTestResult {
  return {
    name: test.name,
    line: test.place.line,
    requests: requestCount,
    failure: failure && {
      mismatches: failure.mismatches.map(({ place: { line, column } }, index) => {
        return { line, column, message: toMismatchText(failure, index) }
      }),
      details: toOutcomeLines(failure),
    },
  }
}
