import type { JSX } from 'preact'
import { useEffect, useId, useLayoutEffect, useState } from 'preact/hooks'
import { Icon } from '../../../components/icons.tsx'

/** Long enough that nobody's word is searched for letter by letter. */
const pauseMs = 250

export interface SearchFieldProps {
  /** What is searched for now. */
  readonly text: string
  readonly onSearch: (text: string) => void
}

export function SearchField({ text, onSearch }: SearchFieldProps): JSX.Element {
  const [typed, setTyped] = useState(text)
  const id = useId()
  // Back and forward bring other searches. At once: later, it would overwrite what is typed meanwhile.
  useLayoutEffect(() => setTyped(text), [text])
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === text) return
    const timer = setTimeout(() => onSearch(wanted), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class="user-search">
      <label for={id} class="hidden">
        Search users
      </label>
      <Icon name="search" />
      <input
        id={id}
        class="input"
        type="search"
        placeholder="Email, phone, name or id"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </search>
  )
}
