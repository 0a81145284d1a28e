import type { JSX } from 'preact'
import { formatNumber } from '../format.ts'

export interface LineChartProps {
  /** What is drawn, for who cannot see it. */
  readonly label: string
  /** Oldest first. */
  readonly values: readonly number[]
  /** How many the whole width has: the line grows from the right. */
  readonly capacity: number
  readonly unit: string
  /** How far back the left end is, such as `2 min ago`. */
  readonly span: string
  readonly series?: 1 | 2
}

const width = 600
const height = 160
const left = 44
const bottom = 20
const top = 8

/** A line over time, on a scale that begins at nothing and ends at a round number. */
export function LineChart(props: LineChartProps): JSX.Element {
  const { label, values, capacity, unit, span, series = 1 } = props
  const ceiling = toCeiling(Math.max(...values, 0))
  const step = (width - left) / Math.max(1, capacity - 1)
  const toX = (index: number) => width - (values.length - 1 - index) * step
  const toY = (value: number) => top + (height - top - bottom) * (1 - value / ceiling)
  const points = values.map((value, index) => `${toX(index).toFixed(1)},${toY(value).toFixed(1)}`)
  const base = toY(0)
  const last = values.at(-1) ?? 0
  const marks = [0, ceiling / 2, ceiling]
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${label}: now ${formatNumber(last)} ${unit}, highest ${formatNumber(Math.max(...values, 0))}`}
      style={{ '--series': `var(--series-${series})` }}
    >
      {marks.map((mark) => (
        <g key={mark}>
          <line class="grid-line" x1={left} x2={width} y1={toY(mark)} y2={toY(mark)} />
          <text x={left - 8} y={toY(mark) + 4} text-anchor="end">
            {formatNumber(mark)}
          </text>
        </g>
      ))}
      {points.length > 1 && (
        <>
          <path class="area" d={`M${toX(0)},${base}L${points.join('L')}L${width},${base}Z`} />
          <path class="line" d={`M${points.join('L')}`} />
        </>
      )}
      <text x={left} y={height - 4}>
        {span}
      </text>
      <text x={width} y={height - 4} text-anchor="end">
        now
      </text>
    </svg>
  )
}

/** The least of 1, 2 and 5 times a power of ten that nothing reaches over. */
function toCeiling(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= highest) ?? 10
  return Math.max(4, factor * power)
}
