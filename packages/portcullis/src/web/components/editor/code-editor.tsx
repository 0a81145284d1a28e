import type { Extension } from '@codemirror/state'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Failure, Loading } from '../states.tsx'
import type { Editor, Jump, Marker } from './open-editor.ts'

export type { Jump, Marker }

export interface CodeEditorProps {
  readonly label: string
  readonly text: string
  /** Loads the language. It must be the same function in every rendering. */
  readonly load: () => Promise<Extension>
  /** Errors and warnings in the text. */
  readonly markers?: readonly Marker[]
  /** A new object moves the cursor again. */
  readonly jump?: Jump | undefined
  readonly onText: (text: string) => void
  /** Called for Ctrl+S. */
  readonly onSave?: () => void
  /** Called for Ctrl+Enter. */
  readonly onRun?: () => void
  /** The class of the frame, which needs a height. */
  readonly class?: string
}

const noMarkers: readonly Marker[] = []

/** A code editor, which is loaded when it is first shown. */
export function CodeEditor(props: CodeEditorProps): JSX.Element {
  const { label, text, load, markers = noMarkers, jump, class: layout = '' } = props
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [editor, setEditor] = useState<Editor>()
  const [error, setError] = useState<unknown>()

  useLayoutEffect(() => {
    let isGone = false
    let opened: Editor | undefined
    const open = async () => {
      const [{ openEditor }, language] = await Promise.all([import('./open-editor.ts'), load()])
      if (isGone || !host.current) return
      opened = openEditor(host.current, {
        label,
        text: latest.current.text,
        language,
        onText: (next) => latest.current.onText(next),
        onSave: () => latest.current.onSave?.(),
        onRun: () => latest.current.onRun?.(),
      })
      setEditor(opened)
    }
    open().catch((reason: unknown) => isGone || setError(reason))
    return () => {
      isGone = true
      opened?.close()
      setEditor(undefined)
    }
  }, [label, load])

  useLayoutEffect(() => editor?.setText(text), [editor, text])
  useLayoutEffect(() => editor?.setMarkers(markers), [editor, markers])
  // A layout effect, so that the cursor does not move while the user is already typing.
  useLayoutEffect(() => {
    if (jump !== undefined) editor?.moveTo(jump)
  }, [editor, jump])

  return (
    <div class={`code-editor ${layout}`}>
      {error !== undefined && <Failure error={error} onRetry={() => location.reload()} />}
      {editor === undefined && error === undefined && <Loading>Loading the editor…</Loading>}
      <div ref={host} class="code-editor-host" />
    </div>
  )
}
