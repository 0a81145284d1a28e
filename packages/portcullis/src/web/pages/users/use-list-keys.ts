import { useEffect } from 'preact/hooks'

interface ListKeys {
  /** A CSS selector of the search field. */
  readonly search: string
  /** The ID of the list. */
  readonly listId: string
}

/** The slash key moves the focus to the search, and the down arrow from there to the list. */
export function useListKeys({ search, listId }: ListKeys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target, key } = event
      const element = target instanceof Element ? target : document.body
      const field = document.querySelector<HTMLElement>(search)
      if (key === '/' && !isTyping(element) && document.querySelector('dialog[open]') === null) {
        field?.focus()
      } else if (key === 'ArrowDown' && element === field) {
        document.getElementById(listId)?.focus()
      } else {
        return
      }
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [search, listId])
}

/** Whether the key press enters a character. */
function isTyping(element: Element): boolean {
  return element.closest('input:not([type=checkbox], [type=radio]), textarea, select') !== null
}
