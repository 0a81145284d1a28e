type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'missing_package'
  | 'cannot_run'
  | 'no_account'
  | 'unusable_folder'
  | 'wrong_version'
  | 'in_use'
  | 'failed_start'

/**
 * Why the embedded PostgreSQL is unavailable. The message is for the operator who starts the
 * server.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
