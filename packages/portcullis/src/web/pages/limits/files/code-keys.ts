/** Writes at the cursor, in a way that the browser can undo. */
function insert(area: HTMLTextAreaElement, text: string): void {
  // No other way keeps the history of the field.
  if (document.execCommand('insertText', false, text)) return
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end')
  area.dispatchEvent(new Event('input', { bubbles: true }))
}

export interface CodeKeys {
  onKeyDown(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void
}

/**
 * Tab indents, Enter keeps the indentation, and Escape lets the next Tab leave the field: nobody is caught
 * in it.
 */
export function createCodeKeys(save: () => void): CodeKeys {
  let mayLeave = false
  return {
    onKeyDown(event) {
      const { key, shiftKey, ctrlKey, metaKey, altKey, currentTarget: area } = event
      const isLeaving = mayLeave
      mayLeave = key === 'Escape'
      if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 's') {
        event.preventDefault()
        save()
      } else if (ctrlKey || metaKey || altKey || shiftKey || event.isComposing) {
        return
      } else if (key === 'Tab' && !isLeaving) {
        event.preventDefault()
        insert(area, '  ')
      } else if (key === 'Enter') {
        const before = area.value.slice(0, area.selectionStart)
        const indent = /(?:^|\n)( *)[^\n]*$/.exec(before)?.[1] ?? ''
        if (indent === '') return
        event.preventDefault()
        insert(area, `\n${indent}`)
      }
    },
  }
}
