/** A package that cannot be built; the message says what to change. */
export class BuildError extends Error {
  override readonly name = 'BuildError'
}
