import type { JSX } from 'preact'
import type { LiveCounts } from '../../../../console/routes/limits.ts'
import { formatCount, formatNumber, formatRate } from '../../../format.ts'

export interface CountColumn {
  readonly name: keyof LiveCounts
  readonly title: string
  readonly meaning: string
  /** What a value above 0 looks like. */
  readonly tone?: 'warn' | 'danger' | 'accent'
}

export const countColumns: readonly CountColumn[] = [
  { name: 'total', title: 'Total', meaning: 'All hits' },
  { name: 'within', title: 'Within', meaning: 'Hits that were let in' },
  { name: 'near', title: 'Near', meaning: 'Hits let in close to the limit', tone: 'warn' },
  { name: 'over', title: 'Over', meaning: 'Hits over the limit', tone: 'danger' },
  {
    name: 'shadow',
    title: 'Shadow',
    meaning: 'Hits over the limit that shadow mode let pass',
    tone: 'accent',
  },
  { name: 'ratePerSecond', title: 'Hits/s', meaning: 'Hits per second, now' },
]

export function CountCells({ counts }: { readonly counts: LiveCounts }): JSX.Element {
  return (
    <>
      <td class="limits-share-cell" data-title="Share">
        <ShareBar counts={counts} />
      </td>
      {countColumns.map(({ name, title, tone }) => {
        const value = counts[name]
        const names = ['number limits-count', value === 0 ? 'nil' : tone && `tone-${tone}`]
        return (
          <td
            key={name}
            class={names.filter(Boolean).join(' ')}
            data-title={title}
            title={formatNumber(value)}
          >
            {name === 'ratePerSecond' ? formatRate(value) : formatCount(value)}
          </td>
        )
      })}
    </>
  )
}

/** What became of the hits: let in, let in near the limit, refused. */
function ShareBar({ counts }: { readonly counts: LiveCounts }): JSX.Element {
  const { within, near, over } = counts
  const all = Math.max(1, within + over)
  const toWidth = (part: number) => ({ width: `${(100 * part) / all}%` })
  const toPercent = (part: number) => `${Math.round((100 * part) / all)} %`
  const label =
    within + over === 0
      ? 'No hits so far'
      : `${toPercent(within)} let in, ${toPercent(near)} of them near the limit, ${toPercent(over)} over`
  return (
    <span class="limits-share" role="img" aria-label={label} title={label}>
      <span class="calm" style={toWidth(Math.max(0, within - near))} />
      <span class="near" style={toWidth(Math.min(near, within))} />
      <span class="over" style={toWidth(over)} />
    </span>
  )
}
