import type { JSX } from 'preact'
import { useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { TextFinding } from '../../../../console/routes/limits.ts'

/** The position to move the cursor to. A new object moves it again. */
export interface Jump {
  readonly line: number
  readonly column: number
}

interface CodeAreaProps {
  readonly label: string
  readonly text: string
  /** The findings in this text. */
  readonly findings: readonly TextFinding[]
  readonly jump: Jump | undefined
  readonly onText: (text: string) => void
  readonly onSave: () => void
}

/** A text editor with line numbers and markers for findings. */
export function CodeArea(props: CodeAreaProps): JSX.Element {
  const { label, text, findings, jump, onText, onSave } = props
  const area = useRef<HTMLTextAreaElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const save = useRef(onSave)
  save.current = onSave
  const keys = useMemo(() => createCodeKeys(() => save.current()), [])
  const hintId = useId()
  const lines = text.split('\n')
  const lineCount = lines.length
  const numbers = useMemo(
    () => Array.from({ length: lineCount }, (_, index) => index + 1).join('\n'),
    [lineCount],
  )

  // Line numbers and markers are separate elements that scroll with the textarea.
  const follow = () => {
    const { scrollTop = 0, scrollLeft = 0 } = area.current ?? {}
    frame.current?.style.setProperty('--top', `${-scrollTop}px`)
    frame.current?.style.setProperty('--left', `${-scrollLeft}px`)
  }
  // A layout effect, so that the cursor does not move while the user is already typing.
  useLayoutEffect(() => {
    if (jump !== undefined && area.current) moveTo(area.current, jump)
    follow()
  }, [jump])

  return (
    <>
      <div ref={frame} class="limits-code" style={{ '--digits': `${lineCount}`.length }}>
        <div class="limits-numbers" aria-hidden="true">
          <pre>{numbers}</pre>
          <Marks findings={findings} lines={lines} isInGutter />
        </div>
        <div class="limits-text">
          <div class="limits-marks" aria-hidden="true">
            <Marks findings={findings} lines={lines} />
          </div>
          <textarea
            ref={area}
            aria-label={label}
            aria-describedby={hintId}
            aria-invalid={findings.some(({ severity }) => severity === 'fault') || undefined}
            wrap="off"
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            value={text}
            onInput={(event) => onText(event.currentTarget.value)}
            onKeyDown={keys.onKeyDown}
            onScroll={follow}
          />
        </div>
      </div>
      <p id={hintId} class="muted small limits-code-hint">
        Tab indents. Press Escape, then Tab, to leave the editor. Ctrl+S saves.
      </p>
    </>
  )
}

interface MarksProps {
  readonly findings: readonly TextFinding[]
  readonly lines: readonly string[]
  readonly isInGutter?: boolean
}

function Marks({ findings, lines, isInGutter = false }: MarksProps): JSX.Element {
  return (
    <>
      {findings.map(({ severity, line = 1, column = 1, message }) => (
        <span
          key={`${line}:${column}:${message}`}
          class={`${isInGutter ? 'limits-dot' : 'limits-mark'} ${severity === 'fault' ? 'tone-danger' : 'tone-warn'}`}
          style={{
            '--line': line - 1,
            '--column': isInGutter ? 0 : column - 1,
            '--length': toLength(lines[line - 1], column),
          }}
        />
      ))}
    </>
  )
}

/** The length of the word at the position of a finding. */
function toLength(line = '', column = 1): number {
  return /^\S+/.exec(line.slice(column - 1))?.[0].length ?? 1
}

function moveTo(area: HTMLTextAreaElement, { line, column }: Jump): void {
  const lines = area.value.split('\n')
  const above = lines.slice(0, line - 1)
  const offset = above.reduce((sum, { length }) => sum + length + 1, 0)
  const place = Math.min(offset + column - 1, area.value.length)
  area.focus()
  area.setSelectionRange(place, place)
  const lineHeight = area.scrollHeight / Math.max(1, lines.length)
  area.scrollTop = Math.max(0, (line - 1) * lineHeight - area.clientHeight / 2)
}

/** Inserts text at the cursor in a way that the browser can undo. */
function insert(area: HTMLTextAreaElement, text: string): void {
  // execCommand is deprecated, but the only way that keeps the undo history.
  if (document.execCommand('insertText', false, text)) return
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end')
  area.dispatchEvent(new Event('input', { bubbles: true }))
}

interface CodeKeys {
  onKeyDown(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void
}

/**
 * Tab indents, Enter keeps the indentation, and Escape lets the next Tab leave the field, so that keyboard
 * users are not trapped in it.
 */
function createCodeKeys(save: () => void): CodeKeys {
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
