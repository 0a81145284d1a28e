import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

interface SearchFieldProps {
  /** What is searched for now. */
  readonly text: string
  readonly label: string
  readonly placeholder: string
  /** A pause in typing after which the word counts as complete. */
  readonly pauseMs: number
  readonly class: string
  readonly onSearch: (text: string) => void
}

export function SearchField({ text, label, placeholder, ...props }: SearchFieldProps): JSX.Element {
  const [typed, setTyped] = useState(text)
  // Back and forward, a link or a button bring other searches. At once: later, it would overwrite what is
  // typed meanwhile.
  useLayoutEffect(() => setTyped(text), [text])
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === text) return
    const timer = setTimeout(() => props.onSearch(wanted), props.pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class={props.class}>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </search>
  )
}
