/** The folders of a package. Imports between them must not form a cycle. */
export interface FolderRules {
  /**
   * Paths of folders and modules below `src/`, without `.ts`; `*` stands for one name. A module belongs
   * to the first entry that its path starts with. A module that belongs to none is not checked.
   */
  readonly folders: readonly string[]
  /** Modules that list or assemble what is in the folders. They belong to no folder. */
  readonly apart?: readonly string[]
}

/** The default rules of a package: each entry directly in src/ is a folder. */
export const topLevel: FolderRules = { folders: ['*'] }

/** The folder of a module; undefined if it is not checked. */
export function findFolder(path: string, { folders, apart = [] }: FolderRules): string | undefined {
  if (apart.includes(path)) return undefined
  const names = path.replace(/\.tsx?$/, '').split('/')
  const depth = folders
    .map((folder) => folder.split('/'))
    .find((parts) =>
      parts.every((part, index) => index < names.length && (part === '*' || part === names[index])),
    )?.length
  return depth === undefined ? undefined : names.slice(0, depth).join('/')
}
