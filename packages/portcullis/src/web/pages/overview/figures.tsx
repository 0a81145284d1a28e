import type { ComponentChildren, JSX } from 'preact'
import type { RangeName } from '../../../console/routes/overview.ts'
import { formatNumber } from '../../format.ts'

/** The key figures above a chart. */
export function Figures({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="figures">{children}</dl>
}

interface FigureProps {
  readonly name: string
  /** Undefined if unknown. */
  readonly value: number | undefined
  readonly unit?: string
  readonly note?: string | undefined
  readonly tone?: 'series-1' | 'series-2' | 'danger'
}

export function Figure({ name, value, unit, note, tone }: FigureProps): JSX.Element {
  return (
    <div class={tone === undefined ? undefined : `figure-${tone}`}>
      <dt class="small">{name}</dt>
      <dd class="figure-value">
        {value === undefined ? '–' : formatNumber(value)}
        {unit !== undefined && value !== undefined && <span class="unit">{unit}</span>}
      </dd>
      {note !== undefined && <dd class="small muted">{note}</dd>}
    </div>
  )
}

export const rangeTitles: Readonly<Record<RangeName, string>> = {
  '15m': '15 min',
  '1h': '1 h',
  '24h': '24 h',
}

const names = Object.keys(rangeTitles) as readonly RangeName[]

interface RangeChoiceProps {
  readonly range: RangeName
  readonly onChoose: (range: RangeName) => void
}

/** Selects the time range of the charts. */
export function RangeChoice({ range, onChoose }: RangeChoiceProps): JSX.Element {
  return (
    <fieldset class="range-choice">
      <legend class="hidden">Time range of the charts</legend>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === range}
          onClick={() => onChoose(name)}
        >
          {rangeTitles[name]}
        </button>
      ))}
    </fieldset>
  )
}
