import type { JSX, TargetedPointerEvent } from 'preact'
import { useState } from 'preact/hooks'
import { formatNumber } from '../format.ts'
import { useWidth } from './use-width.ts'

/** A point without a value leaves a gap. */
export type ChartValues = readonly (number | null)[]

export interface LineChartProps {
  /** What is drawn, for who cannot see it. */
  readonly label: string
  /** Oldest first. */
  readonly values: ChartValues
  /** Another line on the same scale. */
  readonly second?: { readonly label: string; readonly values: ChartValues } | undefined
  /** How many the whole width has: the line grows from the right. */
  readonly capacity: number
  readonly unit: string
  /** How far back the left end is, such as `2 min ago`. */
  readonly span: string
  /** Seconds from one point to the next, so that pointing at one tells its age. */
  readonly stepSeconds?: number
  readonly series?: 1 | 2
}

const height = 168
const left = 40
const right = 4
const bottom = 22
const top = 10

/** A line over time, on a scale that begins at nothing and ends at a round number. */
export function LineChart(props: LineChartProps): JSX.Element {
  const { label, values, second, capacity, unit, span, stepSeconds, series = 1 } = props
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
  const last = values.at(-1) ?? 0
  const summary = `${label}: now ${formatNumber(last)} ${unit}, highest ${formatNumber(highest)}`
  return (
    <div
      ref={element}
      class="chart"
      style={{ '--series': `var(--series-${series})` }}
      onPointerMove={point}
      onPointerLeave={() => setPointed(undefined)}
    >
      <svg viewBox={`0 0 ${width} ${height}`} height={height} role="img" aria-label={summary}>
        {[0, ceiling / 2, ceiling].map((mark) => (
          <g key={mark}>
            <line class="grid-line" x1={left} x2={width} y1={toY(mark)} y2={toY(mark)} />
            <text x={left - 8} y={toY(mark) + 4} text-anchor="end">
              {formatNumber(mark)}
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
        <text x={left} y={height - 4}>
          {span}
        </text>
        <text x={width - right} y={height - 4} text-anchor="end">
          now
        </text>
      </svg>
      {pointed !== undefined && (
        <div class="chart-reading" aria-hidden="true">
          {stepSeconds !== undefined && <span>{toAge(pointed * stepSeconds)}</span>}
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
      {toStretches(values).map(({ end, numbers }) => {
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

interface Stretch {
  /** Of its last value. */
  readonly end: number
  readonly numbers: readonly number[]
}

/** What lies between gaps. One value alone makes no line. */
function toStretches(values: ChartValues): readonly Stretch[] {
  const stretches: { end: number; numbers: number[] }[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const open = stretches.at(-1)
    if (open !== undefined && open.end === index - 1) {
      open.end = index
      open.numbers.push(value)
    } else {
      stretches.push({ end: index, numbers: [value] })
    }
  }
  return stretches.filter(({ numbers }) => numbers.length > 1)
}

function toNumbers(values: ChartValues): readonly number[] {
  return values.filter((value) => value !== null)
}

function toReading(values: ChartValues, age: number, unit: string): string {
  const value = values.at(-1 - age)
  return value === null || value === undefined ? 'not known' : `${formatNumber(value)} ${unit}`
}

function toAge(seconds: number): string {
  if (seconds === 0) return 'now'
  const minutes = Math.floor(seconds / 60)
  const rest = seconds % 60
  const parts = [minutes > 0 && `${minutes} min`, (rest > 0 || minutes === 0) && `${rest} s`]
  return `${parts.filter(Boolean).join(' ')} ago`
}

/** The least of 1, 2 and 5 times a power of ten that nothing reaches over. */
function toCeiling(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= highest) ?? 10
  return Math.max(4, factor * power)
}
