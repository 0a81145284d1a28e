import type { JSX } from 'preact'
import type { RangeName } from '../../../console/routes/overview.ts'

export const rangeTitles: Readonly<Record<RangeName, string>> = {
  '15m': '15 min',
  '1h': '1 h',
  '24h': '24 h',
}

const rangeMinutes: Readonly<Record<RangeName, number>> = { '15m': 15, '1h': 60, '24h': 1_440 }

/** Seconds from one of so many points to the next. */
export function toStepSeconds(range: RangeName, points: number): number {
  return (rangeMinutes[range] * 60) / points
}

const names = Object.keys(rangeTitles) as readonly RangeName[]
const storageKey = 'portcullis-range'

export function readRange(): RangeName {
  const stored = localStorage.getItem(storageKey)
  return names.find((name) => name === stored) ?? '15m'
}

export interface RangeChoiceProps {
  readonly range: RangeName
  readonly onChoose: (range: RangeName) => void
}

/** How far back the charts go. */
export function RangeChoice({ range, onChoose }: RangeChoiceProps): JSX.Element {
  const choose = (name: RangeName) => {
    localStorage.setItem(storageKey, name)
    onChoose(name)
  }
  return (
    <fieldset class="range-choice">
      <legend class="hidden">Range of the charts</legend>
      {names.map((name) => (
        <button key={name} type="button" aria-pressed={name === range} onClick={() => choose(name)}>
          {rangeTitles[name]}
        </button>
      ))}
    </fieldset>
  )
}
