import { wrapText } from '../text/format.ts'
import type { AnyVariable, Chapters } from './env.ts'

export interface HelpOptions {
  /** The line width. */
  readonly columns?: number
  /** Emphasizes a text. Default: no emphasis. */
  readonly emphasize?: (text: string) => string
}

/** All variables for `--help`: each name with its default, followed by its description and type. */
export function toHelpText(
  chapters: Chapters,
  { columns = 80, emphasize = String }: HelpOptions = {},
): string {
  const lines: string[] = []
  for (const { title, variables } of Object.values(chapters)) {
    if (lines.length > 0) lines.push('')
    lines.push(`${title}:`)
    for (const variable of Object.values(variables)) {
      const { name, type, help, defaultText } = variable
      lines.push(`  ${emphasize(name)}${defaultText === '' ? '' : ` = ${defaultText}`}`)
      const names = variable.aliases.length > 0 ? ` Also: ${variable.aliases.join(', ')}.` : ''
      const text = `${help}.${names} (${type.name})`
      lines.push(...wrapText(text, columns - 6).map((line) => `      ${line}`))
    }
  }
  return `${lines.join('\n')}\n`
}

/** All variables for the manual: one Markdown table per chapter, below a heading. */
export function toMarkdown(chapters: Chapters, headingLevel = 3): string {
  const sections = Object.values(chapters).map(({ title, variables }) =>
    [
      `${'#'.repeat(headingLevel)} ${title}`,
      '',
      '| variable | type | default | meaning |',
      '|---|---|---|---|',
      ...Object.values(variables).map(toRow),
    ].join('\n'),
  )
  return `${sections.join('\n\n')}\n`
}

function toRow(variable: AnyVariable): string {
  const names = [variable.name, ...variable.aliases].map((name) => `\`${name}\``).join('<br>')
  const value = variable.defaultText
  const isWords = value.includes(' ')
  const shown = value === '' ? '–' : isWords ? value : `\`${value}\``
  const cells = [names, variable.type.name, shown, variable.help]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
