/** A dependency of a test that is not installed and cannot be installed automatically. */
export class MissingError extends Error {
  override readonly name: string = 'MissingError'
  /** The name of the missing program. */
  readonly program: string
  /** The command that installs it. */
  readonly installCommand: string
  /** Whether tests that need it may be skipped everywhere. */
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
