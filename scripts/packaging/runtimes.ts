import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'
import { root } from './published-packages.ts'
import { runCommand } from './run-command.ts'

/** A Node version to run packages with. */
export interface Runtime {
  readonly version: string
  /** Path of the program. */
  readonly node: string
}

/** The lowest major version that the packages support, and the version that the repository pins. */
export async function findRuntimes(): Promise<Runtime[]> {
  const nodes = [runtime('node22'), process.execPath]
  return Promise.all(
    nodes.map(async (node) => {
      const version = await runCommand(node, ['--version'], { cwd: root })
      return { version: version.trim().slice(1), node }
    }),
  )
}
