/** One small change of one file. */
export interface Mutant {
  /** The path below the repository. */
  readonly file: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** Counted from 1, as in editors. */
  readonly line: number
  readonly column: number
  /** For example `< → <=`. */
  readonly description: string
}
