import type { JSX } from 'preact'
import type { ChartValues } from './chart-data.ts'

interface LineProps {
  readonly values: ChartValues
  /** The place of the point with that index. */
  readonly toX: (index: number) => number
  readonly toY: (value: number) => number
}

/** A line with an area below it. Nothing is drawn over a gap. */
export function Line({ values, toX, toY }: LineProps): JSX.Element {
  const base = toY(0).toFixed(1)
  return (
    <>
      {toSegments(values).map(({ start, numbers }) => {
        const [only] = numbers
        if (numbers.length === 1 && only !== undefined) {
          return <circle key={start} class="point" cx={toX(start)} cy={toY(only)} r={2} />
        }
        const x = (index: number) => toX(start + index).toFixed(1)
        const points = numbers.map((value, index) => `${x(index)},${toY(value).toFixed(1)}`)
        return (
          <g key={start}>
            <path
              class="area"
              d={`M${x(0)},${base}L${points.join('L')}L${x(numbers.length - 1)},${base}Z`}
            />
            <path class="line" d={`M${points.join('L')}`} />
          </g>
        )
      })}
    </>
  )
}

interface Segment {
  /** The index of its first value. */
  readonly start: number
  readonly numbers: readonly number[]
}

/** Splits the values at the gaps. */
function toSegments(values: ChartValues): readonly Segment[] {
  const segments: { start: number; numbers: number[] }[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const open = segments.at(-1)
    if (open !== undefined && open.start + open.numbers.length === index) open.numbers.push(value)
    else segments.push({ start: index, numbers: [value] })
  }
  return segments
}

/** The points without a value, from `start` to before `end`. */
export interface Gap {
  readonly start: number
  readonly end: number
}

export function toGaps(values: ChartValues): readonly Gap[] {
  const gaps: { start: number; end: number }[] = []
  for (const [index, value] of values.entries()) {
    if (value !== null) continue
    const open = gaps.at(-1)
    if (open?.end === index) open.end = index + 1
    else gaps.push({ start: index, end: index + 1 })
  }
  return gaps
}

interface GapsProps {
  readonly values: ChartValues
  readonly toX: (index: number) => number
  readonly width: number
  readonly top: number
  readonly height: number
}

/** The width of the words “no data”. */
const leastTextWidth = 60

/** Marks the times without data, so that they are not taken for zero. */
export function Gaps({ values, toX, width: whole, top, height }: GapsProps): JSX.Element {
  const last = values.length - 1
  return (
    <>
      {toGaps(values).map(({ start, end }) => {
        // The newest point alone is not a gap: it has not been measured yet.
        if (start === last && last > 0) return null
        const x = Math.max(0, toX(Math.max(0, start - 1)))
        const width = Math.min(whole, toX(Math.min(last, end))) - x
        return (
          <g key={start} class="gap">
            <rect x={x} y={top} width={Math.max(0, width)} height={height} />
            {width >= leastTextWidth && (
              <text x={x + width / 2} y={top + height / 4 + 4} text-anchor="middle">
                no data
              </text>
            )}
          </g>
        )
      })}
    </>
  )
}
