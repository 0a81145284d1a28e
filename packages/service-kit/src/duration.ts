const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // The micro sign and the Greek letter look alike, and Go takes both.
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3_600e3,
}

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy
const number = /^(?:\d+\.?\d*|\.\d+)$/

/** 292 years: where Go's 64 bits of nanoseconds end. */
const longestMs = 2 ** 63 / 1e6

export interface DurationOptions {
  /** Whether `90` means 90 seconds. Go refuses every number without a unit but 0. */
  readonly bareSeconds?: boolean
}

/**
 * A duration as Go writes it (`300ms`, `1.5h`, `2h45m`, `0`) in milliseconds, exact to the
 * nanosecond. Undefined when it is none; there are no negative ones.
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

/** 1.1 s would be 1100.0000000000002 ms otherwise. */
function toWholeNanoseconds(ms: number): number | undefined {
  return ms < longestMs ? Math.round(ms * 1e6) / 1e6 : undefined
}
