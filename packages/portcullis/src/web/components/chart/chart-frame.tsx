import type { JSX } from 'preact'
import type { ChartData, TimeSpan } from './chart-data.ts'
import { formatAgo, toAges, toTicks } from './chart-times.ts'

export const height = 184
export const left = 44
export const right = 4
export const top = 26
const bottom = 22
export const plotHeight = height - top - bottom
/** The space that a time on the axis needs. */
const tickWidth = 76

interface CrosshairProps {
  readonly data: ChartData
  readonly index: number
  readonly x: number
  readonly toY: (value: number) => number
}

export function Crosshair({ data, index, x, toY }: CrosshairProps): JSX.Element {
  return (
    <>
      <line class="pointer" x1={x} x2={x} y1={top} y2={top + plotHeight} />
      {data.lines.map(({ label, values }, at) => {
        const value = values[index]
        if (value === null || value === undefined) return null
        return (
          <g key={label} class={at === 0 ? undefined : 'second'}>
            <circle class="point" cx={x} cy={toY(value)} r={4} />
          </g>
        )
      })}
    </>
  )
}

interface TimeAxisProps {
  readonly view: TimeSpan
  readonly isRelative: boolean
  readonly width: number
}

export function TimeAxis({ view, isRelative, width }: TimeAxisProps): JSX.Element {
  const plotWidth = width - left - right
  const length = view.to - view.from
  const y = height - 4
  if (!isRelative) {
    const ticks = toTicks(view, Math.max(1, Math.floor(plotWidth / tickWidth)))
    const placed = ticks.map(({ at, text }) => ({
      text,
      x: left + ((at - view.from) / length) * plotWidth,
    }))
    return (
      <>
        {placed.map(({ text, x }) => (
          <g key={text}>
            <line class="grid-line" x1={x} x2={x} y1={top + plotHeight} y2={top + plotHeight + 4} />
            {/* A text at the edge would be cut off. */}
            {x > left && x < width - tickWidth / 4 && (
              <text x={x} y={y} text-anchor="middle">
                {text}
              </text>
            )}
          </g>
        ))}
      </>
    )
  }
  return (
    <>
      {toAges(length, Math.max(1, Math.floor(plotWidth / tickWidth))).map((age) => {
        const x = width - right - (age / length) * plotWidth
        return (
          <text key={age} x={x} y={y} text-anchor={x < left + tickWidth / 2 ? 'start' : 'middle'}>
            {formatAgo(age)}
          </text>
        )
      })}
      <text x={width - right} y={y} text-anchor="end">
        now
      </text>
    </>
  )
}
