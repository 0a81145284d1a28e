import type { RuleFault } from '../model/fault.ts'
import type { RuleSet } from '../model/rule.ts'
import { createReading, type RuleFileReading } from './parse-file.ts'
import { checkKeys } from './parse-keys.ts'
import { RuleLoading } from './parse-rules.ts'
import { describe, isNull } from './parse-types.ts'
import type { YamlMap } from './yaml-node.ts'
import { readYaml } from './yaml-reader.ts'

export interface ParsedRules {
  /** Empty when there is any fault. */
  readonly rules: RuleSet
  /** All of all files; the first is the one at which envoyproxy/ratelimit would have stopped. */
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** Reads rule files into rules (reference 3). Never throws: what is wrong is a fault. */
export function parseRuleFiles(
  files: readonly { readonly name: string; readonly text: string }[],
  options: { readonly mergeDomains: boolean },
): ParsedRules {
  const loading = new RuleLoading(options.mergeDomains)
  const readings: RuleFileReading[] = []
  for (const file of files) {
    const { name } = file
    // A carriage return alone ends a line too, in YAML though not in the library.
    const text = file.text.replaceAll(/\r(?!\n)/g, '\n')
    const reading = createReading(name, text)
    readings.push(reading)
    const root = readRoot(text, reading)
    if (root === undefined) continue
    checkKeys(root, reading)
    loading.addFile(root, reading)
  }
  // All files are read before the first rule is looked at, so their faults come first.
  const faults = [
    ...readings.flatMap(({ syntax, keys, types }) => [syntax, keys, types]),
    ...readings.map(({ rules }) => rules),
  ].flatMap((list) => list.toArray())
  const warnings = readings.flatMap((reading) => reading.warnings.toArray())
  const rules = faults.length > 0 ? { domains: [], rules: [] } : toRuleSet(loading)
  return { rules, faults, warnings }
}

function toRuleSet(loading: RuleLoading): RuleSet {
  return { domains: loading.domains, rules: loading.rules }
}

function readRoot(text: string, reading: RuleFileReading): YamlMap | undefined {
  const { root, faults, warnings } = readYaml(text)
  for (const { offset, message } of faults) {
    reading.syntax.add(offset, `error loading config file: yaml: ${message}`)
  }
  for (const { offset, message } of warnings) reading.warnings.add(offset, message)
  if (root === undefined || root.kind === 'map') return root
  if (isNull(root)) return { kind: 'map', entries: [], offset: root.offset }
  const message = 'error loading config file: a rule file must be a map with a domain'
  reading.types.add(root.offset, `${message} and descriptors, not ${describe(root)}`)
  return undefined
}
