/** Something a test needs that this machine lacks and we cannot install. */
export class MissingError extends Error {
  override readonly name: string = 'MissingError'
  /** What is missing. */
  readonly program: string
  /** The command by which the owner of the machine gets it. */
  readonly installCommand: string
  /** Whether tests may do without, everywhere. */
  readonly isOptional: boolean

  constructor(
    message: string,
    {
      program,
      installCommand,
      isOptional = false,
      cause,
    }: {
      readonly program: string
      readonly installCommand: string
      readonly isOptional?: boolean
      readonly cause?: unknown
    },
  ) {
    const reason = cause instanceof Error ? ` (${cause.message})` : ''
    super(`${message}: ${installCommand}${reason}`, { cause })
    this.program = program
    this.installCommand = installCommand
    this.isOptional = isOptional
  }
}
