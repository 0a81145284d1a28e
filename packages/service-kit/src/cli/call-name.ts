import { basename, isAbsolute } from 'node:path'

export interface Caller {
  /** The usual name of the program. */
  readonly name: string
  readonly packageName: string
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * `process.argv[0]`: a program that loads another program as one of its commands sets it to the
   * way that command is called.
   */
  readonly executable?: string
  /** The file that Node was started with. */
  readonly script: string
  /** The command of this program that `npm start` runs, if it runs one. */
  readonly startCommand?: string
}

/** How the user calls a command of the program: for help texts, and for commands to copy. */
export function createCallName(caller: Caller): (command: string) => string {
  const { name, packageName, env, executable = '', script, startCommand } = caller
  // Node itself sets an absolute path.
  const calledAs = isAbsolute(executable) ? '' : executable
  const event = env['npm_lifecycle_event']
  const file = basename(script)
  const ownName = /\.[cm]?[jt]s$/.test(file) || file === '' ? name : file
  // A package that npx has just downloaded is only available under its package name.
  const npxName = /[\\/]_npx[\\/]/.test(script) ? packageName : ownName
  return (command) => {
    if (calledAs) return `${calledAs} ${command}`
    if (event === name) return `npm run ${name} -- ${command}`
    if (event === 'start' && startCommand !== undefined) {
      return command === startCommand ? 'npm start --' : `npx ${name} ${command}`
    }
    return event === 'npx' ? `npx ${npxName} ${command}` : `${ownName} ${command}`
  }
}
