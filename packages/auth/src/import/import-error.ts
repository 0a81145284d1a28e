/** Why an import, export or repointing cannot start or continue. The message says what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
