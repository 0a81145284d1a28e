import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { readJson } from './published-packages.ts'
import { runCommand, runNpm } from './run-command.ts'

/** A project in its own folder, outside of the repository. */
export interface Project {
  readonly folder: string
  /** Installs packages in addition to those that are already installed. */
  install(packages: readonly string[]): Promise<void>
  /** The names of all installed packages, including transitive dependencies. */
  listInstalled(): string[]
  /** The environment for a command of the project, with the given Node in PATH. */
  environment(node: string): NodeJS.ProcessEnv
  /** Runs a file of the project with the given Node; resolves to its output. */
  run(node: string, file: string, args: readonly string[]): Promise<string>
}

/** Creates an empty project, or a copy of `template`. */
export function createProject(folder: string, template?: string): Project {
  mkdirSync(folder, { recursive: true })
  if (template) cpSync(template, folder, { recursive: true })
  else writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const env = cleanEnvironment()
  const environment = (node: string) => ({
    ...env,
    PATH: dirname(node) + delimiter + env['PATH'],
  })
  return {
    folder,
    async install(packages) {
      const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
      await runNpm(['install', ...flags, ...packages], { cwd: folder, env })
    },
    listInstalled() {
      const lock: { readonly packages: object } = readJson(
        join(folder, 'node_modules', '.package-lock.json'),
      )
      return Object.keys(lock.packages).map((path) => path.replace(/^node_modules\//, ''))
    },
    environment,
    run: (node, file, args) =>
      runCommand(node, [file, ...args], { cwd: folder, env: environment(node) }),
  }
}

/** The environment without the variables that `npm run` sets for scripts of the repository. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const aboutRepository = /^(npm_package_|npm_lifecycle_|npm_config_local_prefix$|INIT_CWD$)/
  const entries = Object.entries(process.env)
  return Object.fromEntries(entries.filter(([name]) => !aboutRepository.test(name)))
}
