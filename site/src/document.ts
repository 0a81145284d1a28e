/** A second-level section of a Markdown file. */
export interface Chapter {
  readonly heading: string
  /** The text, which begins with the line of the heading. */
  readonly text: string
}

/** A Markdown file, split at its second-level headings. */
export interface Document {
  readonly title: string
  /** The text between the title and the first chapter. */
  readonly intro: string
  readonly chapters: readonly Chapter[]
}

const fence = /^ *(```+|~~~+)/

/** Calls `change` with each line that is not part of a code block, and joins the results. */
export function mapProse(text: string, change: (line: string) => string): string {
  let open: string | undefined
  const lines = text.split('\n').map((line) => {
    const [, mark] = fence.exec(line) ?? []
    if (open !== undefined) {
      if (mark !== undefined && mark.startsWith(open)) open = undefined
      return line
    }
    if (mark === undefined) return change(line)
    open = mark
    return line
  })
  return lines.join('\n')
}

export function parseDocument(text: string): Document {
  // A mark that no page contains; headings in code blocks do not get it.
  const mark = '\u0000'
  const marked = mapProse(text, (line) => (/^##? /.test(line) ? `${mark}${line}` : line))
  const [before = '', ...parts] = marked.split(mark)
  const [head = '', ...rest] = parts
  if (before.trim() !== '' || !head.startsWith('# '))
    throw new Error('A page begins with "# Title".')
  const [titleLine = '', ...intro] = head.split('\n')
  return {
    title: titleLine.slice(2).trim(),
    intro: intro.join('\n').trim(),
    chapters: rest.map((chapter) => {
      const [line = ''] = chapter.split('\n')
      return { heading: line.replace(/^#+ /, '').trim(), text: chapter.trim() }
    }),
  }
}

/** Makes each heading one level higher: a section that becomes a page begins with a title. */
export function promoteHeadings(text: string): string {
  return mapProse(text, (line) => line.replace(/^##(#*) /, '#$1 '))
}

/** The anchors of the headings of a text, as GitHub generates them. */
export function findAnchors(text: string): string[] {
  const anchors: string[] = []
  mapProse(text, (line) => {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? []
    if (heading !== undefined) anchors.push(toAnchor(heading))
    return line
  })
  return anchors
}

/** The anchor that GitHub gives to a heading. */
export function toAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}
