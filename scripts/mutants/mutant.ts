/** One small change of one file. */
export interface Mutant {
  /** Path below the repository. */
  readonly file: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** From 1, as editors count. */
  readonly line: number
  readonly column: number
  /** For example `< → <=`. */
  readonly description: string
}
