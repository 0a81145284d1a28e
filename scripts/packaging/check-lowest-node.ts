import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Archive } from './archive.ts'

/**
 * What Node 24 has, 22 lacks, and the compiler lets pass, because Node's own types bring it along.
 * Syntax is no matter: the compiler writes it anew.
 */
const newer =
  /\b(?:(?:Async)?DisposableStack|RegExp\.escape|Promise\.try|Error\.isError|URLPattern)\b/

/** Names the modules that only a later Node than the lowest promised could run. */
export function checkLowestNode(dist: string, { contents }: Pick<Archive, 'contents'>): void {
  const found = contents
    .filter((file) => file.endsWith('.js') && !file.includes('/web-assets/'))
    .flatMap((file) => {
      const name = newer.exec(readFileSync(join(dist, file), 'utf8'))?.[0]
      return name === undefined ? [] : [`${name} in ${file}`]
    })
  if (found.length > 0) throw new Error(found.join('\n'))
}
