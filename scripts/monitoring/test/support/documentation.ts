import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../../../..')

export interface Page {
  readonly path: string
  readonly text: string
  /** The PromQL expressions in its code blocks, one per line. */
  readonly queries: readonly string[]
}

/** The pages about monitoring. */
export const pages: readonly Page[] = globSync(['docs/monitoring.md', 'docs/runbooks/*.md'], {
  cwd: root,
}).map((path) => {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks = [...text.matchAll(/^```promql\n(.*?)^```$/gms)]
  return { path, text, queries: blocks.flatMap(([, code = '']) => code.trim().split('\n')) }
})
