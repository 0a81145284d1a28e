import type { JSX } from 'preact'
import type { TopKey } from '../../../../console/routes/limits-keys.ts'
import { formatCount, formatNumber } from '../../../format.ts'
import { KeyLabel, toEntriesText } from './key-label.tsx'

interface TopTableProps {
  readonly keys: readonly TopKey[]
  readonly picked: TopKey | undefined
  readonly onPick: (key: TopKey) => void
}

export function TopTable({ keys, picked, onPick }: TopTableProps): JSX.Element {
  const pickedId = picked && toId(picked)
  return (
    <table class="table limits-top">
      <caption class="hidden">Keys with their hits</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col" class="number" title="Hits over the limit">
            Over
          </th>
          <th scope="col" class="number" title="All hits">
            Hits
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={toId(key)} class={toId(key) === pickedId ? 'picked' : undefined}>
            <td>
              {key.canInspect ? (
                <button
                  type="button"
                  class="limits-rule"
                  title="Show the counter of this key"
                  aria-pressed={toId(key) === pickedId}
                  onClick={() => onPick(key)}
                >
                  <KeyLabel {...key} />
                </button>
              ) : (
                <KeyLabel {...key} />
              )}
              <div class="limits-facts small">{toFacts(key)}</div>
            </td>
            <Count value={key.limited} isOver />
            <Count value={key.hits} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Count({ value, isOver = false }: { readonly value: number; readonly isOver?: boolean }) {
  const tone = value === 0 ? 'nil' : isOver ? 'tone-danger' : ''
  return (
    <td class={`number limits-count ${tone}`} title={formatNumber(value)}>
      {formatCount(value)}
    </td>
  )
}

function toId(key: TopKey): string {
  return `${key.domain}\n${toEntriesText(key)}`
}

function toFacts({ limit, rule, canInspect }: TopKey): string {
  if (limit === null) return 'no limit known: the rules have changed, or the key is too long'
  if (!canInspect) return `${limit}, given in the request`
  return `${limit} (${rule})`
}
