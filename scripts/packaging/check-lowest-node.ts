import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Archive } from './archive.ts'

/**
 * APIs of Node 24 that Node 22 lacks but the compiler accepts, because Node's type definitions
 * declare them. Syntax does not matter, since the compiler transforms it.
 */
const newer =
  /\b(?:(?:Async)?DisposableStack|RegExp\.escape|Promise\.try|Error\.isError|URLPattern)\b/

/** Reports the modules that need a later Node than the lowest supported one. */
export function checkLowestNode(dist: string, { contents }: Pick<Archive, 'contents'>): void {
  const found = contents
    .filter((file) => file.endsWith('.js') && !file.includes('/web-assets/'))
    .flatMap((file) => {
      const name = newer.exec(readFileSync(join(dist, file), 'utf8'))?.[0]
      return name === undefined ? [] : [`${name} in ${file}`]
    })
  if (found.length > 0) throw new Error(found.join('\n'))
}
