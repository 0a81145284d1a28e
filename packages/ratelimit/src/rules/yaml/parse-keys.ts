import { findMisspellings } from '@portcullis/service-kit/similar-names'
import { knownKeys } from './parse-drafts.ts'
import type { RuleFileReading } from './parse-file.ts'
import { cutText, quote } from './quote.ts'
import { toGoText, type YamlEntry, type YamlMap, type YamlNode } from './yaml-node.ts'

/** The first check of a file, before any value is looked at: keys, and kinds of values. */
export function checkKeys(map: YamlMap, reading: RuleFileReading): void {
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
