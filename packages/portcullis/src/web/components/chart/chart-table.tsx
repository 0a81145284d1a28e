import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { formatNumber } from '../../format.ts'
import { type ChartData, toTime } from './chart-data.ts'
import { toGaps } from './chart-lines.tsx'
import { formatSpan } from './chart-times.ts'

interface ChartTableProps {
  readonly label: string
  readonly unit: string
  readonly data: ChartData
  /** The visible points. */
  readonly first: number
  readonly end: number
}

/** The values of the visible part of a chart, for screen readers and for copying. */
export function ChartTable(props: ChartTableProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="chart-data" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small">
        Values as a table<span class="hidden">: {props.label}</span>
      </summary>
      {isOpen && <Values {...props} />}
    </details>
  )
}

function Values({ label, unit, data, first, end }: ChartTableProps): JSX.Element {
  const rows = toRows(data, first, end)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- must be scrollable with the keyboard
    <section class="table-frame chart-values" tabIndex={0} aria-label={`${label}, values`}>
      <table class="table small">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {data.lines.map((line) => (
              <th key={line.label} scope="col" class="number">
                {line.label} ({unit})
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ from, to, values }) => (
            <tr key={to}>
              <th scope="row">{formatSpan({ from, to })}</th>
              {values.map((value, index) => (
                <td key={data.lines[index]?.label} class="number">
                  {value === null ? <span class="muted">no data</span> : formatNumber(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface Row {
  readonly from: number
  readonly to: number
  readonly values: readonly (number | null)[]
}

/** Newest first. Points without any value are joined to one row. */
function toRows(data: ChartData, first: number, end: number): readonly Row[] {
  const { lines, coveredMs } = data
  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
  const known = indexes.map((index) =>
    lines.some(({ values }) => toValue(values, index) !== null) ? 1 : null,
  )
  const gaps = toGaps(known).map(({ start, end: after }) => ({
    from: toTime(data, first + start) - coveredMs,
    to: toTime(data, first + after - 1),
    values: lines.map(() => null),
  }))
  const points = indexes
    .filter((_, offset) => known[offset] !== null)
    .map((index) => ({
      from: toTime(data, index) - coveredMs,
      to: toTime(data, index),
      values: lines.map(({ values }) => toValue(values, index)),
    }))
  return [...points, ...gaps].sort((a, b) => b.to - a.to)
}

function toValue(values: readonly (number | null)[], index: number): number | null {
  return values[index] ?? null
}
