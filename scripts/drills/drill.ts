/**
 * One kind of plug-in, and a fake plug-in that is added to a copy of its package: one new file and
 * one entry in an index. Everything else must follow from the index.
 */
export interface Drill {
  /** The kind of plug-in, such as `SMS gateway`. */
  readonly kind: string
  /** The folder below `packages/`. */
  readonly package: string
  /** The new file. */
  readonly file: string
  readonly source: string
  /** Further new files by their paths, for code that runs elsewhere. They need no entry in an index. */
  readonly furtherFiles?: Readonly<Record<string, string>>
  /** What the index imports from it; undefined if the entry names the file itself. */
  readonly exported?: string
  readonly index: Index
  /** Names that `--help` must list: environment variables, commands, … */
  readonly help: readonly string[]
  /** Uses the fake as the program would. @throws what `node:assert` throws. */
  prove(copy: Copy): Promise<void>
}

export interface Index {
  readonly file: string
  /** The object or list in that file that has one entry per plug-in. */
  readonly list: string
  /** The entry itself, if it is not the exported name. */
  readonly entry?: string
}

/** A copy of a package with the fakes in it. */
export interface Copy {
  /**
   * Loads a module of the copy. Its type is that of the original:
   * `load<typeof import('…/config.ts')>('src/config/config.ts')`.
   */
  load<Module>(path: string): Promise<Module>
}
