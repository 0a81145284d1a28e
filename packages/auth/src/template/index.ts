import { type Writer, writeNodes } from './evaluate.ts'
import { createHtmlWriter } from './html-writer.ts'
import { parseNodes } from './parse.ts'
import { toText } from './values.ts'

export { TemplateError } from './template-error.ts'

export interface Template {
  /** @throws TemplateError if the result would be too long or unsafe. */
  render(data: unknown): string
}

/** Escapes values for their context in the page. @throws TemplateError */
export function parseHtmlTemplate(source: string): Template {
  const nodes = parseNodes(source)
  return {
    render(data) {
      const writer = createHtmlWriter()
      writeNodes(nodes, data, writer)
      return writer.html
    },
  }
}

/** One line of plain text, such as a subject; values cannot add a line. @throws TemplateError */
export function parseLineTemplate(source: string): Template {
  const { render } = parseTextTemplate(source)
  return { render: (data) => toLine(render(data)) }
}

/** Plain text without escaping, for text messages. @throws TemplateError */
export function parseTextTemplate(source: string): Template {
  const nodes = parseNodes(source)
  return {
    render(data) {
      const writer = createTextWriter()
      writeNodes(nodes, data, writer)
      return writer.written
    },
  }
}

function createTextWriter(): Writer & { readonly written: string } {
  let written = ''
  const add = (text: string) => {
    written += text
  }
  return {
    text: add,
    value: (value) => add(toText(value)),
    get written() {
      return written
    },
    get length() {
      return written.length
    },
  }
}

/** Removes line breaks and other control characters. */
export function toLine(text: string): string {
  return text.replace(/[\r\n\p{Cc}\p{Zl}\p{Zp}]+/gu, '').trim()
}
