/** Null leaves a gap in the line. */
export type ChartValues = readonly (number | null)[]

/** Milliseconds since the epoch. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** One line of a chart. */
export interface ChartLine {
  readonly label: string
  readonly values: ChartValues
}

/** The points of a chart: the last one ends at `until`, and each is `stepMs` after the one before. */
export interface ChartData {
  readonly lines: readonly ChartLine[]
  readonly count: number
  readonly until: number
  readonly stepMs: number
  /** How much time each point covers. */
  readonly coveredMs: number
}

/** The end of the time that a point covers. */
export function toTime({ until, count, stepMs }: ChartData, index: number): number {
  return until - (count - 1 - index) * stepMs
}

/** The point that is nearest to a time; undefined if the time is outside the data. */
export function findIndex(data: ChartData, time: number): number | undefined {
  const index = data.count - 1 - Math.round((data.until - time) / data.stepMs)
  return index >= 0 && index < data.count ? index : undefined
}

/** The points in a time span, `end` exclusive. */
export function toIndexes(data: ChartData, { from, to }: TimeSpan): { first: number; end: number } {
  const { count, until, stepMs } = data
  const first = Math.max(0, count - 1 - Math.floor((until - from) / stepMs))
  const end = Math.min(count, count - Math.ceil((until - to) / stepMs))
  return { first, end: Math.max(first, end) }
}

export function toHighest({ lines }: ChartData, first: number, end: number): number {
  const numbers = lines.flatMap(({ values }) =>
    values.slice(first, end).filter((value) => value !== null),
  )
  return Math.max(0, ...numbers)
}

/** Returns the smallest of 1, 2 and 5 times a power of ten that is not below the highest value. */
export function toCeiling(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= highest) ?? 10
  return Math.max(4, factor * power)
}

/** The smallest number of points that a zoom can show. */
const fewestSteps = 4

/**
 * Zooms by a factor around a time, inside the whole time span.
 * @returns undefined if everything is visible again.
 */
export function zoomBy(
  view: TimeSpan,
  whole: TimeSpan,
  factor: number,
  center: number,
  stepMs: number,
): TimeSpan | undefined {
  const length = Math.max((view.to - view.from) * factor, fewestSteps * stepMs)
  if (length >= whole.to - whole.from) return undefined
  // The center keeps its place in the chart where possible.
  const share = Math.min(1, Math.max(0, (center - view.from) / (view.to - view.from)))
  const from = Math.min(whole.to - length, Math.max(whole.from, center - share * length))
  return { from, to: from + length }
}

/** Zooms to a part of the chart, which is widened if it has too few points. */
export function zoomTo(
  { from, to }: TimeSpan,
  whole: TimeSpan,
  stepMs: number,
): TimeSpan | undefined {
  const length = Math.max(to - from, fewestSteps * stepMs)
  const center = (from + to) / 2
  return zoomBy({ from: center - length / 2, to: center + length / 2 }, whole, 1, center, stepMs)
}
