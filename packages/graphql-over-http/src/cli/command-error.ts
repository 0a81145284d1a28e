/** Ends the command with exit code 2. Only the message is printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
