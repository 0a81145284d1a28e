import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Custom properties also apply inside the shadow root, so light and dark need no separate themes. */
const theme = EditorView.theme({
  '&': {
    height: '100%',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '0.8125rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.25rem', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    borderRight: '1px solid var(--line)',
    color: 'var(--muted)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunken) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--line)', color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-s)',
    backgroundColor: 'var(--raised)',
    boxShadow: 'var(--shadow-raised)',
    color: 'var(--text)',
    maxWidth: 'min(28rem, 90vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-tooltip-autocomplete ul li': { padding: '0.125rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.8' },
  '.cm-completionInfo': { fontFamily: 'var(--font)', padding: '0.5rem 0.75rem' },
  '.cm-tooltip-hover .cm-schema-info': { padding: '0.5rem 0.75rem' },
  '.cm-schema-info': { fontFamily: 'var(--font)', fontSize: '0.8125rem' },
  '.cm-schema-info code': { fontFamily: 'var(--mono)' },
  '.cm-schema-info p': { margin: '0.25rem 0 0' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', padding: '0.375rem 0.75rem' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy',
    textUnderlineOffset: '0.2em',
  },
  '.cm-lintRange-error': { textDecorationColor: 'var(--danger)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warn)' },
  '.cm-gutter-lint': { width: '1rem' },
  '.cm-lint-marker': {
    width: '0.5rem',
    height: '0.5rem',
    margin: '0.375rem 0',
    borderRadius: '50%',
  },
  '.cm-lint-marker-error': { backgroundColor: 'var(--danger)', content: 'normal' },
  '.cm-lint-marker-warning': { backgroundColor: 'var(--warn)', content: 'normal' },
  '.cm-deletedChunk, .cm-deletedLine': { backgroundColor: 'var(--danger-soft)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--ok-soft)' },
  '.cm-changedText': {
    background: 'color-mix(in srgb, var(--ok) 25%, transparent)',
  },
  '.cm-deletedText': {
    background: 'color-mix(in srgb, var(--danger) 25%, transparent)',
    textDecoration: 'none',
  },
  '.cm-collapsedLines': {
    background: 'var(--sunken)',
    color: 'var(--muted)',
  },
})

const highlighting = HighlightStyle.define([
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-strong)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--series-2)' },
  { tag: [tags.keyword, tags.definitionKeyword], color: 'var(--series-2)' },
  { tag: [tags.typeName, tags.variableName, tags.special(tags.name)], color: 'var(--warn)' },
  { tag: tags.invalid, color: 'var(--danger)' },
])

export const editorTheme: Extension = [theme, syntaxHighlighting(highlighting)]
