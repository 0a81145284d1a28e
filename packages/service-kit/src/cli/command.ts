/** A command of a program, registered in its `index.ts`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** What `PROGRAM COMMAND --help` prints. */
  readonly usage: string
  /**
   * Whether the usage, except its first line, keeps the program's usual name, because its examples are for
   * files instead of this terminal.
   */
  readonly keepsName?: boolean
  /** Resolves to the exit code: 0 for success, 1 for a failure, 2 for invalid arguments. */
  run(args: readonly string[], io: CommandIo): Promise<number>
}

/** Everything that a command may use of the process. */
export interface CommandIo {
  readonly stdout: Writer
  readonly stderr: Writer
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether standard output is a terminal, so that colours and widths make sense. */
  readonly isTerminal: boolean
}

export interface Writer {
  write(text: string): unknown
}

/** https://no-color.org: any non-empty value disables colours. */
export function usesColor({ isTerminal, env }: CommandIo): boolean {
  return isTerminal && !env['NO_COLOR']
}
