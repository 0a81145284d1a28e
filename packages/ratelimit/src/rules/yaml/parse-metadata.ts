import type { Json, JsonObject } from '../model/rule.ts'
import { cutText } from './quote.ts'
import type { YamlMap, YamlNode } from './yaml-node.ts'
import { toBoolean, toNumber } from './yaml-scalar.ts'

/** Metadata is returned to callers as a protobuf Struct, which holds what JSON can hold. */
export function parseMetadata(
  map: YamlMap,
  refuse: (offset: number, text: string) => void,
): JsonObject {
  const toJson = (node: YamlNode): Json => {
    if (node.kind === 'map') return toObject(node)
    if (node.kind === 'list') return node.items.map(toJson)
    if (node.type === 'string') return node.text
    if (node.type === 'boolean') return toBoolean(node.text)
    if (node.type === 'null') return null
    const value = toNumber(node.text)
    if (!Number.isFinite(value)) refuse(node.offset, `${cutText(node.text)} has no form in JSON`)
    return value
  }
  // Keys are taken as written; fromEntries also keeps one that is called __proto__.
  const toObject = (from: YamlMap): JsonObject =>
    Object.fromEntries(from.entries.map((entry) => [entry.name, toJson(entry.value)]))
  return toObject(map)
}
