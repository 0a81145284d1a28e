import { useEffect } from 'preact/hooks'
import { useShortcut } from '../../shortcuts.ts'

interface ListKeys {
  /** A CSS selector of the search field. */
  readonly search: string
  /** The ID of the list. */
  readonly listId: string
}

/** The down arrow moves the focus from the search to the list. The list handles its own keys, which are named here. */
export function useListKeys({ search, listId }: ListKeys): void {
  useShortcut({ keys: 'ArrowUp ArrowDown Home End', label: 'Move between users' })
  useShortcut({ keys: 'Enter', label: 'Open the user' })
  useShortcut({ keys: 'Space', label: 'Select the user' })
  useShortcut({ keys: 'ArrowRight', label: 'Ban the user, revoke sessions or delete the user' })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target, key } = event
      if (key !== 'ArrowDown' || target !== document.querySelector(search)) return
      document.getElementById(listId)?.focus()
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [search, listId])
}
