import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  isPolicyTest,
  type RuleFault,
  readText,
  readYaml,
  toReadError,
  type YamlNode,
} from '../../rules/index.ts'
import { FileReading, isComplete } from './file-reading.ts'
import { parseInstant, parseStep } from './parse-step.ts'
import type { PolicyTest, Step } from './policy-test.ts'

export interface ParsedPolicyTests {
  /** Must not be run if there are faults. */
  readonly tests: readonly PolicyTest[]
  /** All faults of the file. */
  readonly faults: readonly RuleFault[]
}

export const fileFields = ['tests', 'domain']
export const testFields = ['name', 'at', 'domain', 'steps']

/** The start of a second, a minute, an hour, a day and a window of a week. */
const defaultStartMs = Date.UTC(2026, 0, 1)

/** Parses a file of policy tests. Never throws: every error is returned as a fault. */
export function parsePolicyTests(file: { name: string; text: string }): ParsedPolicyTests {
  // In YAML, unlike in the library, a carriage return alone also ends a line.
  const text = file.text.replaceAll(/\r(?!\n)/g, '\n')
  const reading = new FileReading(file.name, text)
  const { root, faults, warnings } = readYaml(text)
  for (const { offset, message } of faults) reading.faults.add(offset, `yaml: ${message}`)
  for (const { offset, message } of warnings) reading.faults.add(offset, message)
  const tests = root === undefined ? [] : parseFile(root, reading)
  return { tests, faults: reading.faults.toArray() }
}

function parseFile(root: YamlNode, reading: FileReading): PolicyTest[] {
  const fields = reading.fields(root, 'a file of policy tests', fileFields)
  const domain = fields.get('domain')
  const tests = fields.get('tests')
  if (tests === undefined) {
    if (isComplete(root, fields))
      reading.faults.add(root.offset, "'tests' is missing: the list of tests")
    return []
  }
  const shared = domain && reading.text(domain, 'domain')
  const names = new Set<string>()
  return reading.items(tests, 'tests').flatMap((node) => {
    const test = parseTest(node, shared, reading)
    if (names.has(test.name)) {
      reading.faults.add(node.offset, `there is another test with the name '${test.name}'`)
    }
    if (test.name !== '') names.add(test.name)
    return test
  })
}

function parseTest(node: YamlNode, shared: string | undefined, reading: FileReading): PolicyTest {
  const fields = reading.fields(node, 'a test', testFields)
  const name = fields.get('name')
  const at = fields.get('at')
  const domain = fields.get('domain')
  const steps = fields.get('steps')
  if (isComplete(node, fields)) {
    if (name === undefined) reading.faults.add(node.offset, 'the test has no name')
    if (steps === undefined) reading.faults.add(node.offset, 'the test has no steps')
  }
  const startMs = (at && parseInstant(at, reading)) ?? defaultStartMs
  const testDomain = domain === undefined ? shared : reading.text(domain, 'domain')
  return {
    name: (name && reading.text(name, 'name')) ?? '',
    place: reading.placeOf(node),
    startMs,
    steps: steps === undefined ? [] : parseSteps(steps, startMs, testDomain, reading),
  }
}

function parseSteps(
  node: YamlNode,
  startMs: number,
  domain: string | undefined,
  reading: FileReading,
): Step[] {
  const steps: Step[] = []
  let nowMs = startMs
  const items = reading.items(node, 'steps')
  if (items.length > 0 && !items.some(hasExpectation)) {
    reading.faults.add(node.offset, 'the test checks nothing: at least one request needs an expect')
  }
  for (const item of items) {
    const step = parseStep(item, { domain, nowMs }, reading)
    if (step === undefined) continue
    if (step.kind === 'clock') nowMs = step.nowMs
    steps.push(step)
  }
  return steps
}

function hasExpectation(step: YamlNode): boolean {
  return step.kind !== 'map' || step.entries.some(({ name }) => name === 'expect')
}

export interface PolicyTestDirectory {
  /** Sorted by name. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[]
}

/** Reads the `*.test.yaml` files directly inside a folder. Rejects when it cannot be read. */
export async function readPolicyTestDirectory(directory: string): Promise<PolicyTestDirectory> {
  const files: { name: string; text: string }[] = []
  const unreadable: { name: string; reason: string }[] = []
  const names = await readdir(directory)
  for (const name of names.filter(isPolicyTest).sort()) {
    const path = join(directory, name)
    try {
      files.push({ name: path, text: await readText(path) })
    } catch (error) {
      unreadable.push({ name: path, reason: toReadError(error) })
    }
  }
  return { files, unreadable }
}
