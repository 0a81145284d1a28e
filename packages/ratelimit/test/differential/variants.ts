import type { JsonObject, JsonValue } from '@bufbuild/protobuf'
import type { ScenarioLimits } from './rule-trees.ts'

/** Settings under which the two services are compared. */
export interface Variant {
  readonly env: Readonly<Record<string, string>>
  readonly limits: ScenarioLimits
  /** Removes intentional differences between the services. */
  readonly normalize?: (answer: JsonObject) => JsonObject
}

const everything: ScenarioLimits = { hasShadowMode: true, hasOverrides: true }

export const variants: { readonly [name: string]: Variant } = {
  'with the default settings': { env: {}, limits: everything },
  'with response headers': { env: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' }, limits: everything },
  'with shadow mode for all rules': {
    env: { SHADOW_MODE: 'true' },
    limits: everything,
    // With global shadow mode, the statuses of this service are OK too.
    normalize: withoutStatusCodes,
  },
  'with a local cache': {
    env: { LOCAL_CACHE_SIZE_IN_BYTES: '1000000' },
    // In this service, a cache entry for a low limit does not refuse calls with a higher override.
    limits: { ...everything, hasOverrides: false },
  },
  'with increments stopped when a limit is exceeded': {
    env: { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' },
    // In this service, rules in shadow mode do not stop the increments of others.
    limits: { ...everything, hasShadowMode: false },
  },
}

function withoutStatusCodes(answer: JsonObject): JsonObject {
  const { statuses } = answer
  if (!Array.isArray(statuses)) return answer
  return { ...answer, statuses: statuses.map(withoutCode) }
}

function withoutCode(status: JsonValue): JsonValue {
  if (status === null || typeof status !== 'object' || Array.isArray(status)) return status
  const { code: _, ...rest } = status
  return rest
}
