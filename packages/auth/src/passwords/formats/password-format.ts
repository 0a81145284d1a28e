/** A format of stored passwords. */
export interface PasswordFormat {
  /** The common names, for the description of the API. */
  readonly names: readonly string[]
  /** The prefix of its hashes, for error messages. */
  readonly example: string
  /** Whether the hash has this format, with parameters that are safe to compute. */
  accepts(hash: string): boolean
  verify(password: string, hash: string): Promise<boolean>
}

/** A format in which new passwords can be stored. */
export interface WrittenFormat extends PasswordFormat {
  hash(password: string): Promise<string>
  /** Whether a hash has the current parameters. */
  isCurrent(hash: string): boolean
  /**
   * Creates a random hash that no password matches, without hashing anything. Checking a password
   * against it takes the usual time.
   */
  createUnusable(): string
}
