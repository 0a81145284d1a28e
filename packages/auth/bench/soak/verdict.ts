import { median } from '@portcullis/bench-kit/statistics'

/** The measurements at the end of a phase. */
export interface SoakSample {
  readonly calls: number
  readonly errors: number
  readonly firstError: string | undefined
  readonly p50Ms: number
  readonly p99Ms: number
  readonly quickP99Ms: number
  readonly residentMegabytes: number
}

export interface Verdict {
  readonly calls: number
  readonly errors: number
  readonly firstError: string | null
  readonly medianP50Ms: number
  readonly medianP99Ms: number
  /** The median p99 of requests that hash no password. */
  readonly medianQuickP99Ms: number
  readonly slowestP99Ms: number
  /** Memory in the second fifth of the run; in the first, code is compiled and caches fill. */
  readonly earlyMegabytes: number
  /** Memory in the last fifth of the run. */
  readonly lateMegabytes: number
  readonly growth: number
  readonly isFine: boolean
}

export interface VerdictOptions {
  /** False in a short run, because the garbage collector runs late while there is room. */
  readonly judgesMemory: boolean
}

const mostGrowth = 0.1

export function toVerdict(
  samples: readonly SoakSample[],
  { judgesMemory }: VerdictOptions,
): Verdict {
  const fifth = Math.max(1, Math.floor(samples.length / 5))
  const memoryOf = (part: readonly SoakSample[]) =>
    median(part.map(({ residentMegabytes }) => residentMegabytes))
  const sumOf = (pick: (sample: SoakSample) => number) =>
    samples.reduce((sum, sample) => sum + pick(sample), 0)
  const earlyMegabytes = memoryOf(samples.slice(fifth, 2 * fifth))
  const lateMegabytes = memoryOf(samples.slice(-fifth))
  const growth = lateMegabytes / earlyMegabytes - 1
  const errors = sumOf((sample) => sample.errors)
  return {
    calls: sumOf((sample) => sample.calls),
    errors,
    firstError: samples.find(({ firstError }) => firstError !== undefined)?.firstError ?? null,
    medianP50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    medianP99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
    medianQuickP99Ms: median(samples.map(({ quickP99Ms }) => quickP99Ms)),
    slowestP99Ms: Math.max(...samples.map(({ p99Ms }) => p99Ms)),
    earlyMegabytes,
    lateMegabytes,
    growth,
    isFine: errors === 0 && (!judgesMemory || growth < mostGrowth),
  }
}
