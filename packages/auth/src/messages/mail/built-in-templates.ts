import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (file: string) =>
  readFileSync(join(import.meta.dirname, 'templates', file), 'utf8').trimEnd()

/**
 * The page of a message that comes with the server. Its file begins with the heading, which is the title
 * too; how a page looks is in the layout alone.
 */
export function readBuiltInTemplate(name: string): string {
  const [heading = '', ...lines] = read(`${name.replaceAll('_', '-')}.html`).split('\n')
  const content = lines.join(`\n${' '.repeat(16)}`)
  return `${read('layout.html')}\n`
    .replaceAll('TITLE', heading.replaceAll(/<\/?h1>/g, ''))
    .replace('CONTENT', () => content)
}
