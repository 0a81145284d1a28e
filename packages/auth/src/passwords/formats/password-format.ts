/** A way to store passwords. */
export interface PasswordFormat {
  /** What people call it, for the description of the API. */
  readonly names: readonly string[]
  /** How its hashes begin, for error messages. */
  readonly example: string
  /** Whether the hash is one of these, with parameters that are safe to compute. */
  accepts(hash: string): boolean
  verify(password: string, hash: string): Promise<boolean>
}

/** One that new passwords may be stored in. */
export interface WrittenFormat extends PasswordFormat {
  hash(password: string): Promise<string>
  /** Whether a hash has the parameters of those that are written today. */
  isCurrent(hash: string): boolean
  /**
   * The hash of no password at all: instead of hashing a random text, the hash itself is random. To check
   * a password against it costs what it always costs.
   */
  createUnusable(): string
}
