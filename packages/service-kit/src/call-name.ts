import { basename } from 'node:path'

/** In the environment of a program that another one has handed over to: how people call it. */
export const calledAsVariable = 'PORTCULLIS_CALLED_AS'

export interface Caller {
  /** The usual name of the program. */
  readonly name: string
  readonly packageName: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The file that Node was started with. */
  readonly script: string
  /** The command that `npm start` runs, where it runs one of this program. */
  readonly startCommand?: string
}

/** How the person at the terminal calls a command of the program: for help, and for commands to copy. */
export function createCallName(caller: Caller): (command: string) => string {
  const { name, packageName, env, script, startCommand } = caller
  const calledAs = env[calledAsVariable]
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
