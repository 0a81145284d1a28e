import { findMisspellings } from '@portcullis/service-kit/similar-names'
import type { RuleFault } from '../model/fault.ts'
import type { RuleSet } from '../model/rule.ts'
import { cutText, quote } from './fault-list.ts'
import { createReading, describe, isNull, type RuleFileReading } from './field-reader.ts'
import { knownKeys } from './parse-drafts.ts'
import { RuleLoading } from './parse-rules.ts'
import { toGoText, type YamlEntry, type YamlMap, type YamlNode } from './yaml-node.ts'
import { readYaml } from './yaml-reader.ts'

/** A rule file that has been read. */
export interface RuleFile {
  /** The name inside the directory, as messages show it. */
  readonly name: string
  /** Its content. */
  readonly text: string
  /**
   * Of a large one also the pieces it was read in, for who hands it on in pieces: to cut up the
   * text, all of it would have to be copied together first.
   */
  readonly pieces?: readonly string[]
}

export interface ParsedRules {
  /** Empty when there is any fault. */
  readonly rules: RuleSet
  /** All of all files; the first is the one at which envoyproxy/ratelimit would have stopped. */
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** Reads rule files into rules (reference 3). Never throws: what is wrong is a fault. */
export function parseRuleFiles(
  files: readonly RuleFile[],
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

/** The first check of a file, before any value is looked at: keys, and kinds of values. */
function checkKeys(map: YamlMap, reading: RuleFileReading): void {
  for (const entry of map.entries) {
    if (!isKnown(entry, reading)) reading.spoilt.add(map)
    else if (entry.name !== 'metadata') checkValue(entry.value, map, reading)
  }
}

function isKnown(entry: YamlEntry, reading: RuleFileReading): boolean {
  const { name, nameType, offset } = entry
  if (nameType !== 'string') {
    const shown = toGoText({ kind: 'scalar', text: name, type: nameType, offset })
    reading.keys.add(offset, `config error, key is not of type string: ${shown}`)
    return false
  }
  if (knownKeys.has(name)) return true
  const meant = reading.keys.isFull ? undefined : findMisspellings([name], knownKeys)[0]?.suggestion
  const hint = meant === undefined ? undefined : `did you mean '${meant}'?`
  reading.keys.add(offset, `config error, unknown key ${quote(name)}`, hint)
  return false
}

function checkValue(value: YamlNode, map: YamlMap, reading: RuleFileReading): void {
  if (value.kind === 'map') checkKeys(value, reading)
  else if (value.kind === 'list') checkItems(value.items, map, reading)
  else if (value.type === 'float') {
    const hint = `${cutText(value.text)} is a number with a fraction: put it in quotes if it is meant as text`
    reading.keys.add(value.offset, 'error checking config', hint)
    reading.spoilt.add(map)
  }
}

function checkItems(items: readonly YamlNode[], map: YamlMap, reading: RuleFileReading): void {
  for (const item of items) {
    if (item.kind === 'map') {
      checkKeys(item, reading)
    } else {
      const message = 'config error, yaml file contains list of type other than map'
      reading.keys.add(item.offset, `${message}: ${toGoText(item)}`)
      reading.spoilt.add(map)
    }
  }
}
