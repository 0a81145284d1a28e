/** A package that cannot be built, told in words that say what to change. */
export class BuildError extends Error {
  override readonly name = 'BuildError'
}
