/** A fenced block of a Markdown page: ```language role, or ```language file=name. */
export interface DocBlock {
  readonly language: string
  readonly role: string
  /** The name under which other blocks import it. */
  readonly file: string | undefined
  readonly code: string
  /** Line of the opening fence, from 1. */
  readonly line: number
}

/** A table of a Markdown page, under the last heading before it. */
export interface DocTable {
  readonly heading: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function readBlocks(markdown: string): DocBlock[] {
  const blocks: DocBlock[] = []
  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const fence = /^```(\w+) ?(\S*)$/.exec(lines[index] ?? '')
    if (!fence) continue
    const end = lines.indexOf('```', index)
    if (end < 0) throw new Error(`The block in line ${index + 1} is not closed`)
    const [, language = '', role = ''] = fence
    blocks.push({
      language,
      role,
      file: /^file=(.+)$/.exec(role)?.[1],
      code: `${lines.slice(index + 1, end).join('\n')}\n`,
      line: index + 1,
    })
    index = end
  }
  return blocks
}

/** The code of a block as it is run: for a diff, the new version. */
export function toSource({ language, code }: DocBlock): string {
  if (language !== 'diff') return code
  return code.replace(/^-.*\n/gm, '').replace(/^[+ ]/gm, '')
}

/** The expected output of a program: the comment after each `console.log`, in order. */
export function readPrintedLines(source: string): string[] {
  return source
    .split('\n')
    .filter((line) => line.includes('console.log('))
    .map((line) => {
      const comment = /console\.log\(.*\),? \/\/ (.+)$/.exec(line)?.[1]
      if (comment === undefined) throw new Error(`No comment shows the output of: ${line.trim()}`)
      return comment
    })
}

export function readTables(markdown: string): DocTable[] {
  const tables: DocTable[] = []
  let heading = ''
  let open: { columns: readonly string[]; rows: (readonly string[])[] } | undefined
  for (const line of markdown.replace(/^```[\s\S]*?^```$/gm, '').split('\n')) {
    heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading
    if (!line.startsWith('|')) open = undefined
    else if (!open) {
      open = { columns: toCells(line), rows: [] }
      tables.push({ heading, ...open })
    } else if (!/^[|-]+$/.test(line)) open.rows.push(toCells(line))
  }
  return tables
}

function toCells(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
}

/** The code in a cell: `a`, `b` gives a and b. */
export function readNames(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}
