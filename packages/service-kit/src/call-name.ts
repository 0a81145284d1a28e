import { basename, isAbsolute } from 'node:path'

export interface Caller {
  /** The usual name of the program. */
  readonly name: string
  readonly packageName: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `process.argv[0]`: a program that loads another one as its own command puts there how that is called. */
  readonly executable?: string
  /** The file that Node was started with. */
  readonly script: string
  /** The command that `npm start` runs, where it runs one of this program. */
  readonly startCommand?: string
}

/** How the person at the terminal calls a command of the program: for help, and for commands to copy. */
export function createCallName(caller: Caller): (command: string) => string {
  const { name, packageName, env, executable = '', script, startCommand } = caller
  // Node itself puts an absolute path there.
  const calledAs = isAbsolute(executable) ? '' : executable
  const event = env['npm_lifecycle_event']
  const file = basename(script)
  const ownName = /\.[cm]?[jt]s$/.test(file) || file === '' ? name : file
  // What npx has just downloaded has no other name outside of it.
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
