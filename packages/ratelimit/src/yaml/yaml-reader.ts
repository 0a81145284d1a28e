import { readBlockDocument } from './yaml-block.ts'
import { readDocument } from './yaml-document.ts'
import type { YamlDocument } from './yaml-node.ts'

/** Reads the first YAML document of a text. */
export function readYaml(text: string): YamlDocument {
  const control = text.search(notPrintable)
  if (control === -1) return readBlockDocument(text) ?? readDocument(text)
  const fault = { offset: control, message: 'control characters are not allowed' }
  return { root: undefined, faults: [fault], warnings: [] }
}

/**
 * YAML text contains only printable characters, tabs and line breaks; it may start with a byte order mark.
 */
const notPrintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
