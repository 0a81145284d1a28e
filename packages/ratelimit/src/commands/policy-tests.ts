import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { toArgumentError, toArgumentFault } from '@portcullis/service-kit/cli/argument-faults'
import { type Command, type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import { toCountText } from '@portcullis/service-kit/text/format'
import { toReason } from '@portcullis/service-kit/text/reason'
import { readRuleDirectory } from '../rules/sources/file/rule-directory.ts'
import type { Finding } from '../tools/check/fault-report.ts'
import {
  byPlace,
  type Inspection,
  inspectRuleFiles,
  toFileFinding,
  toFinding,
  writeFindings,
} from '../tools/check/rule-files.ts'
import {
  type PolicyTestDirectory,
  parsePolicyTests,
  readPolicyTestDirectory,
} from '../tools/policy-tests/parse.ts'
import type { PolicyTest } from '../tools/policy-tests/policy-test.ts'
import { toJsonResult, toJunit, toTextReport } from '../tools/policy-tests/reports.ts'
import type { TestResult } from '../tools/policy-tests/run.ts'
import { runAll } from '../tools/policy-tests/run-tests.ts'
import { toUnreadable } from './command-texts.ts'

const usage = `Usage: ratelimit test DIR [OPTION…]

Runs the policy tests (*.test.yaml) in a folder against the rules (*.yaml) in
it, in simulated time and with separate counters. No server is needed, and
simulated time costs no real time.

Options:
  --rules DIR    the folder of the rules; default: the folder of the tests
  --filter TEXT  run only tests whose path or name contains the text, ignoring
                 case
  --merge        allow several files to define one domain, as with
                 MERGE_DOMAIN_CONFIG=true
  --json         print one JSON object instead of text
  --junit FILE   also write the results to a file, as JUnit XML

A test file:

  domain: api                      # for requests without a domain
  tests:
    - name: a user gets 5 calls a minute
      at: 2026-01-01T00:00:00Z     # start time; default: this time
      steps:
        - request: { descriptors: [{ user: alice }] }
          times: 5
          expect: ok
        - request: { descriptors: [{ user: alice }] }
          expect: over_limit
        - advance: 60s             # or 1h30m, '2 days'; at: TIME jumps there
        - request: { descriptors: [{ user: alice }] }
          expect: { code: ok, remaining: 4, reset: 60s, rule: api.user }

A request has domain, descriptors and hits. A descriptor is a map of its
entries, or has more fields; negative hits are refunded:

  { entries: { user: alice }, hits: 3, limit: 10/hour }

expect can also check the limit, and each descriptor of several:

  expect: { code: ok, limit: 5/minute }
  expect: { code: ok, descriptors: [ok, { remaining: 3 }] }

With times, the code is checked for every call and everything else only for the
last one.

Exit codes: 0 if all tests pass, 1 for failed tests, errors in the files or no
tests, 2 for invalid arguments, a folder that cannot be read, or a file that
cannot be written.
`

export const policyTests: Command = {
  summary: 'run the policy tests of a folder of rules, in simulated time',
  usage,
  async run(args, io) {
    const request = parseArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(toArgumentError('ratelimit test', request))
      return 2
    }
    const loaded = await load(request, io)
    if (loaded === undefined) return 2
    if (loaded.findings.length > 0) {
      writeFaults(loaded, request, io)
      return 1
    }
    const tests = loaded.tests.filter((test) => isSelected(test, request.filter))
    if (tests.length === 0) {
      io.stderr.write(`${toNothingFound(request, loaded.tests.length)}\n`)
      return 1
    }
    const results = await runAll(tests, loaded.rules)
    if (request.junit !== undefined && !(await writeJunit(request.junit, results, io))) return 2
    writeResults(results, loaded, request, io)
    return results.every(({ failure }) => failure === undefined) ? 0 : 1
  },
}

interface Request {
  readonly directory: string
  readonly rules: string
  readonly filter: string
  readonly merge: boolean
  readonly json: boolean
  readonly junit: string | undefined
}

const options = {
  rules: { type: 'string' },
  filter: { type: 'string' },
  merge: { type: 'boolean' },
  json: { type: 'boolean' },
  junit: { type: 'string' },
} as const

/** Returns a string for an error. */
function parseArguments(args: readonly string[]): Request | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [directory, other] = positionals
    if (directory === undefined) return 'The folder of the tests is missing.'
    if (other !== undefined) {
      return `Unexpected argument ${JSON.stringify(other)}: test takes one folder.`
    }
    return {
      directory,
      rules: values.rules ?? directory,
      filter: (values.filter ?? '').toLowerCase(),
      merge: values.merge ?? false,
      json: values.json ?? false,
      junit: values.junit,
    }
  } catch (error) {
    return toArgumentFault(error)
  }
}

interface Loaded {
  readonly rules: Inspection['rules']
  readonly tests: readonly PolicyTest[]
  readonly findings: readonly Finding[]
  readonly texts: ReadonlyMap<string, string>
}

/** Returns undefined, after it has printed why, if the folders cannot be read or contain no rules. */
async function load(request: Request, io: CommandIo): Promise<Loaded | undefined> {
  const { rules, directory } = request
  const [content, tests] = await Promise.all([
    readRuleDirectory(rules, { ignoreDotFiles: false }).catch((error: unknown) =>
      toUnreadable(rules, error),
    ),
    readPolicyTestDirectory(directory).catch((error: unknown) => toUnreadable(directory, error)),
  ])
  if (typeof content === 'string' || typeof tests === 'string') {
    io.stderr.write(typeof content === 'string' ? content : String(tests))
    return undefined
  }
  if (content.files.length === 0 && content.unreadable.length === 0) {
    io.stderr.write(
      `The folder ${rules} contains no rules (*.yaml). Set the folder of the rules with --rules DIR.\n`,
    )
    return undefined
  }
  return toLoaded(inspectRuleFiles(rules, content, request.merge), tests)
}

function toLoaded(inspection: Inspection, { files, unreadable }: PolicyTestDirectory): Loaded {
  const parsed = files.map(parsePolicyTests)
  return {
    rules: inspection.rules,
    tests: parsed.flatMap(({ tests }) => tests),
    findings: [
      ...inspection.findings.filter((finding) => !isWarning(finding)),
      ...parsed.flatMap(({ faults }) => faults.map((fault) => toFinding(fault, 'fault'))),
      ...unreadable.map(({ name, reason }) =>
        toFileFinding('fault', name, `error reading file ${name}: ${reason}`),
      ),
    ].sort(byPlace),
    texts: new Map([...inspection.texts, ...files.map(({ name, text }) => [name, text] as const)]),
  }
}

/** Warnings are not shown here; `check` shows them. */
function isWarning({ severity }: Finding): boolean {
  return severity === 'warning'
}

function isSelected({ name, place }: PolicyTest, filter: string): boolean {
  return `${place.file} ${name}`.toLowerCase().includes(filter)
}

function toNothingFound({ directory, filter }: Request, testCount: number): string {
  if (testCount === 0) return `The folder ${directory} contains no policy tests (*.test.yaml).`
  return (
    `No test has ${JSON.stringify(filter)} in its path or name. ` +
    `The folder ${directory} contains ${toCountText(testCount, 'test')}.`
  )
}

/** Returns whether the file could be written. */
async function writeJunit(
  file: string,
  results: readonly TestResult[],
  io: CommandIo,
): Promise<boolean> {
  try {
    await writeFile(file, toJunit(results))
    return true
  } catch (error) {
    io.stderr.write(`The results cannot be written to ${file}: ${toReason(error)}\n`)
    return false
  }
}

function writeFaults({ findings, texts }: Loaded, { json }: Request, io: CommandIo): void {
  if (json) {
    io.stdout.write(`${JSON.stringify({ ok: false, findings, tests: [] }, undefined, 2)}\n`)
    return
  }
  writeFindings(findings, texts, io)
  io.stdout.write(`${toCountText(findings.length, 'error')}: no test was run\n`)
}

function writeResults(
  results: readonly TestResult[],
  { texts }: Loaded,
  { json }: Request,
  io: CommandIo,
): void {
  if (!json) {
    io.stdout.write(toTextReport(results, { hasColor: usesColor(io), texts }))
    return
  }
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const counts = { passed: results.length - failed, failed }
  const report = { ok: failed === 0, ...counts, findings: [], tests: results.map(toJsonResult) }
  io.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
}
