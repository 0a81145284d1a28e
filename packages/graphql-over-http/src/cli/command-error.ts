/** Ends the command with exit code 2. The message is the one sentence its user gets to read. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
