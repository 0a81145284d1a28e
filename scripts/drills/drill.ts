/**
 * One kind of plug-in, and a fake of it that is added to a copy of its package: one new file and one entry
 * in an index. Everything else that knows plug-ins of the kind has to follow from the index.
 */
export interface Drill {
  /** `SMS gateway` */
  readonly kind: string
  /** The folder below `packages/`. */
  readonly package: string
  /** The new file. */
  readonly file: string
  readonly source: string
  /** More new files, where one half runs elsewhere, by their paths; found without another entry. */
  readonly furtherFiles?: Readonly<Record<string, string>>
  /** What the index imports of it; missing where the entry names the file itself. */
  readonly exported?: string
  readonly index: Index
  /** Names that `--help` must list then: environment variables, commands, … */
  readonly help: readonly string[]
  /** Uses the fake as the program would. @throws what `node:assert` throws. */
  prove(copy: Copy): Promise<void>
}

export interface Index {
  readonly file: string
  /** The object or list in that file that has one entry for each plug-in. */
  readonly list: string
  /** The entry itself, where it is not the exported name. */
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
