import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Project } from '../project.ts'
import { root } from '../published-packages.ts'
import { npmCommand, runCommand } from '../run-command.ts'
import { type RunningCommand, startCommand } from './running-command.ts'

/** The commands of installed packages, called through npx. */
export interface Npx {
  /** Runs a command until it exits; resolves to its output. */
  run(args: readonly string[]): Promise<string>
  /**
   * Starts a command that runs until it is stopped; resolves when its output matches the pattern.
   */
  start(
    args: readonly string[],
    ready: RegExp,
    variables?: Readonly<Record<string, string>>,
  ): Promise<RunningCommand>
}

/** The commands fail if they load a module from the packages of the repository. */
export function createNpx(project: Project, node: string): Npx {
  const cwd = project.folder
  const guard = join(cwd, 'refuse-repository.mjs')
  cpSync(join(import.meta.dirname, 'refuse-repository.mjs'), guard)
  const env = {
    ...project.environment(node),
    NO_COLOR: '1',
    NODE_OPTIONS: `--import=${pathToFileURL(guard).href}`,
    REFUSED_FOLDER_URL: pathToFileURL(join(root, 'packages')).href,
  }
  // A missing package must not be downloaded from a registry.
  const [file = 'npx', ...first] = [...npmCommand('npx'), '--no-install']
  return {
    run: (args) => runCommand(file, [...first, ...args], { cwd, env }),
    start: (args, ready, variables) =>
      startCommand({
        command: [file, ...first, ...args],
        cwd,
        env: { ...env, ...variables },
        ready,
      }),
  }
}
