import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { useSearchShortcut } from '../shortcuts.ts'
import { Icon } from './icons.tsx'

interface SearchFieldProps {
  /** The current search. */
  readonly text: string
  readonly label: string
  readonly placeholder: string
  /** How long to wait after the last key press. */
  readonly pauseMs: number
  readonly class: string
  readonly onSearch: (text: string) => void
}

/** A search field with the shortcut `/`. */
export function SearchField({ text, label, placeholder, ...props }: SearchFieldProps): JSX.Element {
  const [typed, setTyped] = useState(text)
  const field = useSearchShortcut(label)
  // Navigation can change the search too. A layout effect runs at once; a later update could overwrite what the
  // user is typing.
  useLayoutEffect(() => {
    // A space at the end is not part of the search, but the user may be about to type the next word.
    if (typed.trim() !== text) setTyped(text)
  }, [text])
  // Also a layout effect: the cleanup of others runs after the next paint, and the timer could end before.
  useLayoutEffect(() => {
    const wanted = typed.trim()
    if (wanted === text) return
    const timer = setTimeout(() => props.onSearch(wanted), props.pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class={props.class}>
      <Icon name="search" />
      <input
        ref={field}
        aria-keyshortcuts="/"
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
