import type { JSX, RefObject, TargetedPointerEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatClock, formatCount, formatNumber } from '../format.ts'

/** Null leaves a gap in the line. */
type ChartValues = readonly (number | null)[]

interface LineChartProps {
  /** The accessible name of the chart. */
  readonly label: string
  /** Oldest first. */
  readonly values: ChartValues
  /** Another line on the same scale. */
  readonly second?: { readonly label: string; readonly values: ChartValues } | undefined
  /** The number of points that fill the width; the line grows from the right. */
  readonly capacity: number
  readonly unit: string
  /** The unit of the vertical axis, such as `decisions per second`. */
  readonly axis: string
  /** The distance between two points. */
  readonly stepSeconds: number
  readonly series?: 1 | 2
}

const height = 184
const left = 44
const right = 4
const bottom = 22
const top = 26
/** The labelled positions of the horizontal axis, besides now. */
const thirds = [1, 2 / 3, 1 / 3] as const

/** A line chart over time, on a scale from zero to a round number. */
export function LineChart(props: LineChartProps): JSX.Element {
  const { label, values, second, capacity, unit, axis, stepSeconds, series = 1 } = props
  const [element, width] = useWidth<HTMLDivElement>(600)
  const [pointed, setPointed] = useState<number>()
  const highest = Math.max(0, ...toNumbers(values), ...toNumbers(second?.values ?? []))
  const ceiling = toCeiling(highest)
  const step = (width - left - right) / Math.max(1, capacity - 1)
  const toX = (age: number) => width - right - age * step
  const toY = (value: number) => top + (height - top - bottom) * (1 - value / ceiling)
  const place = { toX, toY }
  const point = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLDivElement>) => {
    const x = clientX - currentTarget.getBoundingClientRect().left
    const age = Math.round((width - right - x) / step)
    setPointed(age >= 0 && age < values.length ? age : undefined)
  }
  const summary = `${label}: now ${toReading(values, 0, unit)}, highest ${formatNumber(highest)}`
  const spanSeconds = capacity * stepSeconds
  return (
    <div
      ref={element}
      class="chart"
      style={{ '--series': `var(--series-${series})` }}
      onPointerMove={point}
      onPointerLeave={() => setPointed(undefined)}
    >
      <svg viewBox={`0 0 ${width} ${height}`} height={height} role="img" aria-label={summary}>
        <text x={0} y={11}>
          {axis}
        </text>
        {[0, ceiling / 2, ceiling].map((mark) => (
          <g key={mark}>
            <line class="grid-line" x1={left} x2={width} y1={toY(mark)} y2={toY(mark)} />
            <text x={left - 8} y={toY(mark) + 4} text-anchor="end">
              {formatCount(mark)}
            </text>
          </g>
        ))}
        <Line values={values} {...place} />
        {second && (
          <g class="second">
            <Line values={second.values} {...place} />
          </g>
        )}
        {pointed !== undefined && (
          <line class="pointer" x1={toX(pointed)} x2={toX(pointed)} y1={top} y2={toY(0)} />
        )}
        {thirds.map((part) => (
          <text
            key={part}
            x={width - right - part * (width - left - right)}
            y={height - 4}
            text-anchor={part === 1 ? 'start' : 'middle'}
          >
            {toSpan(part * spanSeconds)}
          </text>
        ))}
        <text x={width - right} y={height - 4} text-anchor="end">
          now
        </text>
      </svg>
      {pointed !== undefined && (
        <div class="chart-reading" aria-hidden="true">
          <span>{formatClock(Date.now() - pointed * stepSeconds * 1000)}</span>
          <span>{toReading(values, pointed, unit)}</span>
          {second && (
            <span class="second">
              {second.label} {toReading(second.values, pointed, unit)}
            </span>
          )}
        </div>
      )}
    </div>
  )
}

interface LineProps {
  readonly values: ChartValues
  readonly toX: (age: number) => number
  readonly toY: (value: number) => number
}

function Line({ values, toX, toY }: LineProps): JSX.Element {
  return (
    <>
      {toSegments(values).map(({ end, numbers }) => {
        const [only] = numbers
        if (numbers.length === 1 && only !== undefined) {
          const at = toX(values.length - 1 - end)
          return <circle key={end} class="point" cx={at} cy={toY(only)} r={2} />
        }
        const x = (index: number) => toX(values.length - 1 - (end - numbers.length + 1 + index))
        const points = numbers.map((value, i) => `${x(i).toFixed(1)},${toY(value).toFixed(1)}`)
        const first = x(0).toFixed(1)
        const last = x(numbers.length - 1).toFixed(1)
        const base = toY(0).toFixed(1)
        return (
          <g key={end}>
            <path class="area" d={`M${first},${base}L${points.join('L')}L${last},${base}Z`} />
            <path class="line" d={`M${points.join('L')}`} />
          </g>
        )
      })}
    </>
  )
}

interface Segment {
  /** The index of its last value. */
  readonly end: number
  readonly numbers: readonly number[]
}

/** Splits the values at the gaps. */
function toSegments(values: ChartValues): readonly Segment[] {
  const segments: { end: number; numbers: number[] }[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const open = segments.at(-1)
    if (open !== undefined && open.end === index - 1) {
      open.end = index
      open.numbers.push(value)
    } else {
      segments.push({ end: index, numbers: [value] })
    }
  }
  return segments
}

function toNumbers(values: ChartValues): readonly number[] {
  return values.filter((value) => value !== null)
}

function toReading(values: ChartValues, age: number, unit: string): string {
  const value = values.at(-1 - age)
  return value === null || value === undefined ? 'no data' : `${formatNumber(value)} ${unit}`
}

/** Such as `10 min ago`. */
function toSpan(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  return minutes >= 120 ? `${Math.round(minutes / 60)} h ago` : `${minutes} min ago`
}

/** Returns the smallest of 1, 2 and 5 times a power of ten that is not below the highest value. */
function toCeiling(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= highest) ?? 10
  return Math.max(4, factor * power)
}

/** Observes the width of an element. @returns the ref for the element, and its width. */
function useWidth<Part extends Element>(
  atFirst: number,
): readonly [RefObject<Part | null>, number] {
  const element = useRef<Part>(null)
  const [width, setWidth] = useState(atFirst)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
