import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Icon } from '../../components/icons.tsx'

/** So long a pause says that the word is complete. */
const pauseMs = 150

export interface SearchFieldProps {
  readonly search: string
  readonly onSearch: (text: string) => void
}

export function SearchField({ search, onSearch }: SearchFieldProps): JSX.Element {
  const [typed, setTyped] = useState(search)
  useEffect(() => {
    if (typed === search) return
    const timer = setTimeout(() => onSearch(typed), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  // Somebody else may change it: a link here, or clearing the mailbox. At once: later, it would
  // overwrite what is typed meanwhile.
  useLayoutEffect(() => setTyped(search), [search])
  return (
    <search class="mailbox-search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label="Search messages"
        placeholder="Address, subject or code"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </search>
  )
}
