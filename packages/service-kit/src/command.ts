/** A command of a program, registered in its `index.ts`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** What `PROGRAM COMMAND --help` prints. */
  readonly usage: string
  /** Whether the usage, except its first line, names the program as it is, because it is for files. */
  readonly keepsName?: boolean
  /** Resolves to the exit code: 0 fine, 1 it found or met a failure, 2 it was called wrongly. */
  run(args: readonly string[], io: CommandIo): Promise<number>
}

/** All that a command sees of the process. */
export interface CommandIo {
  readonly stdout: Writer
  readonly stderr: Writer
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads standard output, so that colours and widths make sense. */
  readonly isTerminal: boolean
}

export interface Writer {
  write(text: string): unknown
}

/** https://no-color.org: any value but an empty one switches colours off. */
export function usesColor({ isTerminal, env }: CommandIo): boolean {
  return isTerminal && !env['NO_COLOR']
}
