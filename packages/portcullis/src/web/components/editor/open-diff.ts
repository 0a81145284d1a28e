import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { openRoot } from './open-editor.ts'
import { editorTheme } from './theme.ts'

export interface DiffOptions {
  readonly label: string
  readonly before: string
  readonly after: string
  readonly language: Extension
}

/** Shows the changes between two texts. @returns a function that closes the view. */
export function openDiff(host: HTMLElement, options: DiffOptions): () => void {
  const { label, before, after, language } = options
  const root = openRoot(host)
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: after,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        lineNumbers(),
        language,
        editorTheme,
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
        // The text scrolls, so that the keyboard must be able to reach it.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ],
    }),
  })
  return () => view.destroy()
}
