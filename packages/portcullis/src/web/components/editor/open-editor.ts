import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import {
  type Diagnostic,
  forEachDiagnostic,
  lintGutter,
  lintKeymap,
  setDiagnostics,
} from '@codemirror/lint'
import { EditorState, type Extension, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  tooltips,
} from '@codemirror/view'
import { editorTheme } from './theme.ts'

/** A position in the text. */
export interface Jump {
  /** Starts at 1, like the column. */
  readonly line: number
  readonly column: number
}

/** A finding about the text at a position. */
export interface Marker extends Jump {
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface EditorOptions {
  readonly label: string
  readonly text: string
  readonly language: Extension
  readonly onText: (text: string) => void
  readonly onSave: () => void
  readonly onRun: () => void
}

export interface Editor {
  /** Replaces the text if it differs. */
  setText(text: string): void
  setMarkers(markers: readonly Marker[]): void
  /** Moves the cursor and the focus. */
  moveTo(jump: Jump): void
  close(): void
}

/** Creates an editor in a shadow root of the element, see decision 032. */
export function openEditor(host: HTMLElement, options: EditorOptions): Editor {
  const { label, text, language, onText, onSave, onRun } = options
  const root = openRoot(host)
  /** Set while the page replaces the text, which is not an edit of the user. */
  let isReplacing = false
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        // Keeps the line breaks of the file.
        text.includes('\r\n') ? EditorState.lineSeparator.of('\r\n') : [],
        lineNumbers(),
        highlightActiveLineGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        highlightActiveLine(),
        leaveWithEscape,
        replaceSelection,
        keymap.of([
          { key: 'Mod-s', preventDefault: true, run: toCommand(onSave) },
          { key: 'Mod-Enter', preventDefault: true, run: toCommand(onRun) },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        language,
        editorTheme,
        // The frame of the editor must not clip tooltips.
        tooltips({ position: 'fixed' }),
        EditorView.contentAttributes.of(({ state }) => ({
          'aria-label': label,
          'aria-invalid': hasErrors(state) ? 'true' : 'false',
          spellcheck: 'false',
        })),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged && !isReplacing) onText(state.sliceDoc())
        }),
      ],
    }),
  })
  return {
    setText(next) {
      const { state } = view
      if (state.sliceDoc() === next) return
      isReplacing = true
      view.dispatch({ changes: { from: 0, to: state.doc.length, insert: state.toText(next) } })
      isReplacing = false
    },
    setMarkers(markers) {
      const diagnostics = markers.map((marker) => toDiagnostic(view.state.doc, marker))
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    moveTo(jump) {
      const anchor = toOffset(view.state.doc, jump)
      view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
      })
      view.focus()
    },
    close: () => view.destroy(),
  }
}

/**
 * In a shadow root, CodeMirror uses constructed style sheets. In the document it would add style elements, which the
 * content security policy refuses.
 */
export function openRoot(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  root.replaceChildren()
  return root
}

function toCommand(action: () => void): () => boolean {
  return () => {
    action()
    return true
  }
}

/** Escape lets the next Tab leave the editor, so that keyboard users are not trapped in it. */
const leaveWithEscape = EditorView.domEventHandlers({
  keydown(event, view) {
    if (event.key === 'Escape') view.setTabFocusMode(true)
    else if (event.key !== 'Tab' && event.key !== 'Shift') view.setTabFocusMode(false)
  },
  blur(_event, view) {
    view.setTabFocusMode(false)
  },
})

/**
 * When text is typed over a selection, browsers keep the colours of the selection with inline styles, which the content
 * security policy refuses. So the editor replaces the text itself.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput({ data, inputType, isComposing }, view) {
    const { state } = view
    const { from, to, empty } = state.selection.main
    if (inputType !== 'insertText' || !data || isComposing || empty) return false
    const insert = () =>
      state.update(state.replaceSelection(data), { scrollIntoView: true, userEvent: 'input.type' })
    const handlers = state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert())
    return true
  },
})

function hasErrors(state: EditorState): boolean {
  let isFound = false
  forEachDiagnostic(state, ({ severity }) => {
    isFound ||= severity === 'error'
  })
  return isFound
}

/** Marks the word at the position. */
function toDiagnostic(doc: Text, { severity, message, ...jump }: Marker): Diagnostic {
  const from = toOffset(doc, jump)
  const { to: end } = doc.lineAt(from)
  const word = /^\S+/.exec(doc.sliceString(from, end))?.[0].length ?? 0
  return { from, to: from + word, severity, message }
}

function toOffset(doc: Text, { line, column }: Jump): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines))
  return Math.min(from + Math.max(0, column - 1), to)
}
