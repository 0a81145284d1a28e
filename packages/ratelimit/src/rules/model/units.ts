/** A unit of time a limit counts in. Windows are aligned to the Unix epoch. */
export interface Unit {
  /** As in rule files, in capitals. */
  readonly name: 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR'
  /** The number in `envoy.type.v3.RateLimitUnit` and in `RateLimitResponse.RateLimit.Unit`. */
  readonly wire: number
  /** How long the unit lasts. */
  readonly seconds: number
}

/** In the order of their length. Week, month and year are extensions of the four specified ones. */
export const units: readonly Unit[] = [
  { name: 'SECOND', wire: 1, seconds: 1 },
  { name: 'MINUTE', wire: 2, seconds: 60 },
  { name: 'HOUR', wire: 3, seconds: 3_600 },
  { name: 'DAY', wire: 4, seconds: 86_400 },
  { name: 'WEEK', wire: 7, seconds: 604_800 },
  { name: 'MONTH', wire: 5, seconds: 2_592_000 },
  { name: 'YEAR', wire: 6, seconds: 31_536_000 },
]

/** Ten years. */
export const longestWindowSeconds = 315_360_000

const byName = new Map(units.map((unit) => [unit.name as string, unit]))
const byWire: (Unit | undefined)[] = []
for (const unit of units) byWire[unit.wire] = unit

/** Any letter case, as in the YAML files. */
export function unitByName(name: string): Unit | undefined {
  return byName.get(name.toUpperCase())
}

export function unitByWire(wire: number): Unit | undefined {
  return byWire[wire]
}
