const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // The micro sign and the Greek letter mu look alike; Go accepts both.
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3_600e3,
}

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy
const number = /^(?:\d+\.?\d*|\.\d+)$/

/** 292 years: the maximum of Go's 64-bit nanoseconds. */
const longestMs = 2 ** 63 / 1e6

export interface DurationOptions {
  /** Whether `90` means 90 seconds. Go rejects every number without a unit except 0. */
  readonly bareSeconds?: boolean
}

/**
 * Parses a duration in Go's format (`300ms`, `1.5h`, `2h45m`, `0`) to milliseconds, exact to the
 * nanosecond. Returns undefined if it is malformed or negative.
 */
export function parseDuration(text: string, options: DurationOptions = {}): number | undefined {
  if (text === '0') return 0
  if (options.bareSeconds && number.test(text)) return toWholeNanoseconds(Number(text) * 1e3)
  let total = 0
  part.lastIndex = 0
  while (part.lastIndex < text.length) {
    const [, digits, unit] = part.exec(text) ?? []
    if (digits === undefined || unit === undefined) return undefined
    total += Number(digits) * (unitMs[unit] ?? Number.NaN)
  }
  return text === '' ? undefined : toWholeNanoseconds(total)
}

/** Avoids rounding errors: 1.1 s would otherwise be 1100.0000000000002 ms. */
function toWholeNanoseconds(ms: number): number | undefined {
  return ms < longestMs ? Math.round(ms * 1e6) / 1e6 : undefined
}
