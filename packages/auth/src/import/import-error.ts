/** A reason why nothing, or nothing more, can be imported, with advice. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
