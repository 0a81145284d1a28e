import { json, jsonParseLinter } from '@codemirror/lang-json'
import { linter } from '@codemirror/lint'
import type { Extension } from '@codemirror/state'

const check = jsonParseLinter()

/** JSON that may be empty. */
export const language: Extension = [
  json(),
  linter((view) => (view.state.doc.toString().trim() === '' ? [] : check(view))),
]
