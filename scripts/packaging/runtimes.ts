import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'
import { root } from './published-packages.ts'
import { runCommand } from './run-command.ts'

/** A Node to run packages on. */
export interface Runtime {
  readonly version: string
  /** Path of the program. */
  readonly node: string
}

/** The lowest major that the packages promise, and the one that the repository pins. */
export async function findRuntimes(): Promise<Runtime[]> {
  const nodes = [runtime('node22'), process.execPath]
  return Promise.all(
    nodes.map(async (node) => {
      const version = await runCommand(node, ['--version'], { cwd: root })
      return { version: version.trim().slice(1), node }
    }),
  )
}
