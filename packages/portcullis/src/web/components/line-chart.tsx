import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { formatCount, formatNumber } from '../format.ts'
import { Button } from './button.tsx'
import { ChartCursor } from './chart/chart-cursor.tsx'
import {
  type ChartData,
  type ChartLine,
  type ChartValues,
  findIndex,
  type TimeSpan,
  toCeiling,
  toHighest,
  toIndexes,
  toTime,
  zoomBy,
  zoomTo,
} from './chart/chart-data.ts'
import { Crosshair, height, left, plotHeight, right, TimeAxis, top } from './chart/chart-frame.tsx'
import { Gaps, Line } from './chart/chart-lines.tsx'
import { ChartTable } from './chart/chart-table.tsx'
import { describeTimeZone, formatSpan } from './chart/chart-times.ts'
import { useWidth } from './chart/use-width.ts'

export type { TimeSpan }

interface LineChartProps {
  /** The accessible name of the chart. */
  readonly label: string
  /** The name of the first line beside its values. Default: none in the chart, `label` in the table. */
  readonly name?: string
  /** Oldest first. */
  readonly values: ChartValues
  /** Another line on the same scale. */
  readonly second?: ChartLine | undefined
  /** The number of points that fill the width; the line grows from the right. */
  readonly capacity: number
  readonly unit: string
  /** The unit of the vertical axis, such as `decisions per second`. */
  readonly axis: string
  /** The distance between two points. */
  readonly stepSeconds: number
  /** How much time each point covers. Default: `stepSeconds`. */
  readonly coveredSeconds?: number | undefined
  /** The end of the newest point, in milliseconds since the epoch. Default: now, with ages on the time axis. */
  readonly until?: number | undefined
  /** The part of the time that is shown. Default: everything. */
  readonly zoom?: TimeSpan | undefined
  /** Enables zooming. Undefined: everything. */
  readonly onZoom?: (zoom: TimeSpan | undefined) => void
  readonly series?: 1 | 2
}

/** A line chart over time, on a scale from zero to a round number. */
export function LineChart(props: LineChartProps): JSX.Element {
  const { label, name, values, second, capacity, unit, axis, zoom, onZoom, series = 1 } = props
  const [element, width] = useWidth<HTMLDivElement>(600)
  const [pointedTime, setPointedTime] = useState<number>()
  const data = toData(props)
  const whole = { from: data.until - Math.max(1, capacity - 1) * data.stepMs, to: data.until }
  const view = zoom ?? whole
  const { first, end } = toIndexes(data, view)
  // The lines to the points beside the visible ones are visible too.
  const ceiling = toCeiling(toHighest(data, Math.max(0, first - 1), end + 1))
  const plotWidth = Math.max(1, width - left - right)

  const toTimeX = (time: number) => ((time - view.from) / (view.to - view.from)) * plotWidth
  const toX = (index: number) => toTimeX(toTime(data, index))
  const toY = (value: number) => top + plotHeight * (1 - value / ceiling)
  const found = pointedTime === undefined ? undefined : findIndex(data, pointedTime)
  const pointed = found !== undefined && found >= first && found < end ? found : undefined
  const now = toReadings(data, end - 1, unit, name)
  const readings = pointed === undefined ? undefined : toReadings(data, pointed, unit, name)

  const changeZoom = (factor: number) => {
    const center = pointed === undefined ? (view.from + view.to) / 2 : toTime(data, pointed)
    onZoom?.(zoomBy(view, whole, factor, center, data.stepMs))
  }
  const summary = `${label}: now ${toReading(values.at(-1), unit)}, highest ${formatNumber(toHighest(data, first, end))}`
  return (
    <div class="chart" style={{ '--series': `var(--series-${series})` }}>
      <div ref={element} class="chart-plot">
        <svg viewBox={`0 0 ${width} ${height}`} height={height} role="img" aria-label={summary}>
          <text x={0} y={11}>
            {axis}
          </text>
          {/* A nested element cuts off what is outside the visible time. */}
          <svg x={left} y={0} width={plotWidth} height={height}>
            <Gaps values={values} toX={toX} width={plotWidth} top={top} height={plotHeight} />
          </svg>
          {[0, ceiling / 2, ceiling].map((mark) => (
            <g key={mark}>
              <line class="grid-line" x1={left} x2={width} y1={toY(mark)} y2={toY(mark)} />
              <text x={left - 8} y={toY(mark) + 4} text-anchor="end">
                {mark < 100 ? formatNumber(mark) : formatCount(mark)}
              </text>
            </g>
          ))}
          <svg x={left} y={0} width={plotWidth} height={height}>
            <Line values={values} toX={toX} toY={toY} />
            {second && (
              <g class="second">
                <Line values={second.values} toX={toX} toY={toY} />
              </g>
            )}
            {pointed !== undefined && (
              <Crosshair data={data} index={pointed} x={toX(pointed)} toY={toY} />
            )}
          </svg>
          <TimeAxis view={view} isRelative={props.until === undefined} width={width} />
        </svg>
        <ChartCursor
          label={label}
          reading={(readings ?? now).map(({ text }) => text).join(', ')}
          first={first}
          end={end}
          pointed={pointed}
          place={{ left, top, width: plotWidth, height: plotHeight }}
          toTimeAt={(x) => view.from + (x / plotWidth) * (view.to - view.from)}
          onPoint={(index) => setPointedTime(index === undefined ? undefined : toTime(data, index))}
          onPointTime={setPointedTime}
          onZoomTo={onZoom && ((part) => onZoom(zoomTo(part, whole, data.stepMs)))}
          onZoomBy={onZoom && changeZoom}
          onReset={onZoom && (() => onZoom(undefined))}
        />
        {readings && (
          <div class="chart-reading" aria-hidden="true">
            {readings.map(({ key, text }) => (
              <span key={key} class={key}>
                {text}
              </span>
            ))}
          </div>
        )}
      </div>
      <div class="chart-foot">
        <span class="small muted">
          {props.until === undefined ? '' : `Times in ${describeTimeZone()}`}
        </span>
        {onZoom && (
          <ZoomButtons
            label={label}
            isZoomed={zoom !== undefined}
            onChange={changeZoom}
            onReset={() => onZoom(undefined)}
          />
        )}
      </div>
      {end === first && zoom !== undefined && (
        <p class="small muted">
          There are no points in this time range. Reset the zoom to see the whole chart.
        </p>
      )}
      <ChartTable label={label} unit={unit} data={data} first={first} end={end} />
    </div>
  )
}

function toData(props: LineChartProps): ChartData {
  const { label, name = label, values, second, stepSeconds, coveredSeconds = stepSeconds } = props
  return {
    lines: [{ label: name, values }, ...(second ? [second] : [])],
    count: values.length,
    until: props.until ?? Date.now(),
    stepMs: stepSeconds * 1000,
    coveredMs: coveredSeconds * 1000,
  }
}

interface ZoomButtonsProps {
  readonly label: string
  readonly isZoomed: boolean
  readonly onChange: (factor: number) => void
  readonly onReset: () => void
}

function ZoomButtons({ label, isZoomed, onChange, onReset }: ZoomButtonsProps): JSX.Element {
  return (
    <div class="row tight" role="group" aria-label={`Zoom of ${label}`}>
      {isZoomed && (
        <Button kind="quiet" size="small" onClick={onReset}>
          Reset zoom
        </Button>
      )}
      <Button
        kind="quiet"
        size="small"
        icon="minus"
        label="Zoom out"
        isDisabled={!isZoomed}
        onClick={() => onChange(2)}
      >
        {null}
      </Button>
      <Button kind="quiet" size="small" icon="plus" label="Zoom in" onClick={() => onChange(0.5)}>
        {null}
      </Button>
    </div>
  )
}

interface Reading {
  /** Also the class. */
  readonly key: 'time' | 'first' | 'second'
  readonly text: string
}

/** The time and the values of all lines at one point. */
function toReadings(data: ChartData, index: number, unit: string, name = ''): readonly Reading[] {
  const to = toTime(data, index)
  const [first, second] = data.lines
  return [
    { key: 'time', text: formatSpan({ from: to - data.coveredMs, to }) },
    { key: 'first', text: `${name} ${toReading(first?.values[index], unit)}`.trim() },
    ...(second
      ? [
          {
            key: 'second' as const,
            text: `${second.label} ${toReading(second.values[index], unit)}`,
          },
        ]
      : []),
  ]
}

function toReading(value: number | null | undefined, unit: string): string {
  return value === null || value === undefined ? 'no data' : `${formatNumber(value)} ${unit}`
}
