import { findMisspellings } from '@portcullis/service-kit/text/similar-names'
import { quote } from '../../yaml/quote.ts'
import type { YamlMap } from '../../yaml/yaml-node.ts'
import {
  type Algorithm,
  algorithms,
  type LimitRecord,
  longestWindowSeconds,
  type Unit,
  unitByName,
  units,
} from '../model/rule.ts'
import type { RuleFileReading } from './field-reader.ts'
import { type LimitDraft, readLimitDraft, readReplacedName } from './parse-drafts.ts'

/** Parses a `rate_limit`. Errors are added to the faults of the reading. */
export function parseLimit(map: YamlMap, reading: RuleFileReading): LimitRecord {
  const draft = readLimitDraft(map, reading)
  const unit = unitByName(draft.unit)
  checkUnit(draft, unit !== undefined, map, reading)
  checkMultiplier(draft, unit, reading)
  const algorithm = parseAlgorithm(draft, map, reading)
  const replaces = parseReplaces(draft, reading)
  return {
    requestsPerUnit: draft.requestsPerUnit ?? 0,
    unit: draft.unlimited ? undefined : unit?.name,
    unitMultiplier: draft.unitMultiplier ?? 1,
    algorithm,
    unlimited: draft.unlimited,
    name: draft.name,
    replaces,
  }
}

function checkUnit(
  draft: LimitDraft,
  isValid: boolean,
  map: YamlMap,
  reading: RuleFileReading,
): void {
  const { unlimited, unit, unitAt } = draft
  const isEcho = unit === '' && reading.invalidMaps.has(map)
  if (unlimited && isValid) {
    reading.rules.add(unitAt, 'should not specify rate limit unit when unlimited')
  } else if (!unlimited && !isValid && !isEcho) {
    reading.rules.add(unitAt, `invalid rate limit unit ${quote(unit)}`, unitHint)
  } else if (!unlimited && draft.requestsPerUnit === undefined && !reading.invalidMaps.has(map)) {
    // This is only a warning: refusing what envoyproxy/ratelimit accepts would prevent a migration.
    const message = 'requests_per_unit is missing: it defaults to 0, so every request is refused'
    reading.warnings.add(map.offset, message)
  }
}

const unitHint = `units are ${units.map((unit) => unit.name.toLowerCase()).join(', ')}`

/** Not in envoyproxy/ratelimit, which refuses the key. */
function checkMultiplier(
  { unitMultiplier, unitMultiplierAt: at, unlimited }: LimitDraft,
  unit: Unit | undefined,
  reading: RuleFileReading,
): void {
  if (unitMultiplier === undefined) return
  if (unlimited) {
    reading.rules.add(at, 'should not specify rate limit unit_multiplier when unlimited')
  } else if (unit !== undefined && unit.seconds * unitMultiplier > longestWindowSeconds) {
    const name = unit.name.toLowerCase()
    const message = `rate limit window of ${unitMultiplier} ${name}s is longer than 10 years`
    const most = Math.floor(longestWindowSeconds / unit.seconds)
    reading.rules.add(at, message, `with unit ${name}, unit_multiplier is at most ${most}`)
  }
}

/** Not in envoyproxy/ratelimit, which refuses the key. */
function parseAlgorithm(draft: LimitDraft, map: YamlMap, reading: RuleFileReading): Algorithm {
  const { algorithm: written, algorithmAt: at, unlimited } = draft
  if (written === undefined) return defaultAlgorithm
  const known = algorithms.find((name) => name === written)
  if (unlimited) {
    reading.rules.add(at, 'should not specify rate limit algorithm when unlimited')
  } else if (known === undefined && !(written === '' && reading.invalidMaps.has(map))) {
    const [slip] = findMisspellings([written], new Set(algorithms))
    const suggestion = slip === undefined ? '' : `did you mean '${slip.suggestion}'? `
    const hint = `${suggestion}algorithms are ${algorithms.join(', ')}`
    reading.rules.add(at, `invalid rate limit algorithm ${quote(written)}`, hint)
  }
  return known ?? defaultAlgorithm
}

const defaultAlgorithm: Algorithm = 'fixed_window'

function parseReplaces(draft: LimitDraft, reading: RuleFileReading): string[] {
  const names: string[] = []
  for (const item of draft.replaces?.items ?? []) {
    if (item.kind !== 'map') continue
    const name = readReplacedName(item, reading)
    names.push(name)
    if (name === '' && !reading.invalidMaps.has(item)) {
      reading.rules.add(item.offset, 'should not have an empty replaces entry')
    } else if (name !== '' && name === draft.name) {
      reading.rules.add(item.offset, 'replaces should not contain name of same descriptor')
    }
  }
  return names
}
