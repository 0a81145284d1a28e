import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import { toOverrideText } from '../protocol/text.ts'
import type { Json, JsonObject } from '../rules/model/rule.ts'

/** What was asked, and the metadata of the rules that let it pass, for the proxy's own filters. */
export function toDynamicMetadata(
  { domain, descriptors, hitsAddend }: RateLimitRequest,
  passedMetadata: readonly (JsonObject | undefined)[],
): JsonObject {
  const metadata = passedMetadata.reduce<JsonObject | undefined>(
    (merged, next) => (merged && next ? mergeMetadata(merged, next) : (merged ?? next)),
    undefined,
  )
  return {
    domain,
    descriptors: descriptors.map(describe),
    ...(hitsAddend === 0 ? {} : { hitsAddend }),
    ...(metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
}

function describe({ entries, limit, hitsAddend }: Descriptor): JsonObject {
  return {
    entries: entries.map(({ key, value }) => `${key}=${value}`),
    ...(limit === undefined ? {} : { limit: toOverrideText(limit) }),
    ...(hitsAddend === undefined ? {} : { hitsAddend }),
  }
}

/** The first value wins; maps merge, lists do not. */
export function mergeMetadata(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(first))
  for (const [name, value] of Object.entries(second)) {
    const known = merged.get(name)
    if (known === undefined) merged.set(name, value)
    else if (isObject(known) && isObject(value)) merged.set(name, mergeMetadata(known, value))
  }
  return Object.fromEntries(merged)
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
