type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'missing_package'
  | 'cannot_run'
  | 'no_account'
  | 'unusable_folder'
  | 'wrong_version'
  | 'in_use'
  | 'failed_start'

/** Why there is no PostgreSQL of our own; the message is for whoever starts the server. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
