import type { JSX } from 'preact'
import type { CounterTarget } from '../../../../console/routes/limits-keys.ts'

/** Returns the entries of a descriptor, such as `user=ada, path=/admin`. */
export function toEntriesText({ entries }: Pick<CounterTarget, 'entries'>): string {
  return entries.map(({ key, value }) => `${key}=${value}`).join(', ')
}

/** The domain and the entries of a key. */
export function KeyLabel(target: CounterTarget): JSX.Element {
  return (
    <span class="mono limits-key">
      <span class="muted">{target.domain}</span> {toEntriesText(target)}
    </span>
  )
}
