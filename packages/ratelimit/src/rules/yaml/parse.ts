import { findMisspellings } from '@portcullis/service-kit/text/similar-names'
import { cutText, quote } from '../../yaml/quote.ts'
import { toGoText, type YamlEntry, type YamlMap, type YamlNode } from '../../yaml/yaml-node.ts'
import { readYaml } from '../../yaml/yaml-reader.ts'
import type { RuleFault } from '../model/fault.ts'
import type { RuleSet } from '../model/rule.ts'
import { createReading, describe, isNull, type RuleFileReading } from './field-reader.ts'
import { knownKeys } from './parse-drafts.ts'
import { RuleLoading } from './parse-rules.ts'

/** A rule file that has been read. */
export interface RuleFile {
  /** The name within the folder, which messages show. */
  readonly name: string
  /** Its content. */
  readonly text: string
  /**
   * The pieces that a large file was read in, so that it can be transferred in pieces: splitting the text
   * would copy all of it first.
   */
  readonly pieces?: readonly string[]
}

export interface ParsedRules {
  /** Empty if there are faults. */
  readonly rules: RuleSet
  /** The faults of all files; the first one is that at which envoyproxy/ratelimit would have stopped. */
  readonly faults: readonly RuleFault[]
  readonly warnings: readonly RuleFault[]
}

/** Parses rule files. Never throws: every error is returned as a fault. */
export function parseRuleFiles(
  files: readonly RuleFile[],
  options: { readonly mergeDomains: boolean },
): ParsedRules {
  const loading = new RuleLoading(options.mergeDomains)
  const readings: RuleFileReading[] = []
  for (const file of files) {
    const { name } = file
    // In YAML, unlike in the library, a carriage return alone also ends a line.
    const text = file.text.replaceAll(/\r(?!\n)/g, '\n')
    const reading = createReading(name, text)
    readings.push(reading)
    const root = readRoot(text, reading)
    if (root === undefined) continue
    checkKeys(root, reading)
    loading.addFile(root, reading)
  }
  // All files are read before the first rule is checked, so their faults come first.
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

/** The first check of a file, before any value is read: keys, and kinds of values. */
function checkKeys(map: YamlMap, reading: RuleFileReading): void {
  for (const entry of map.entries) {
    if (!isKnown(entry, reading)) reading.invalidMaps.add(map)
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
    reading.invalidMaps.add(map)
  }
}

function checkItems(items: readonly YamlNode[], map: YamlMap, reading: RuleFileReading): void {
  for (const item of items) {
    if (item.kind === 'map') {
      checkKeys(item, reading)
    } else {
      const message = 'config error, yaml file contains list of type other than map'
      reading.keys.add(item.offset, `${message}: ${toGoText(item)}`)
      reading.invalidMaps.add(map)
    }
  }
}
