import { matchesGlob, relative, resolve, sep } from 'node:path'

/**
 * Selects test files by path, folder, glob, or any part of their path. Given paths are relative to
 * the current folder, the files to the repository.
 */
export function selectFiles(
  files: readonly string[],
  wanted: readonly string[],
  { root, cwd }: { readonly root: string; readonly cwd: string },
): { readonly selected: string[]; readonly unknown: string[] } {
  const found = wanted.map((word) => {
    const path = relative(root, resolve(cwd, word)).split(sep).join('/')
    const exact = files.filter(
      (file) => file === path || file.startsWith(`${path}/`) || matchesGlob(file, path),
    )
    return exact.length > 0 ? exact : files.filter((file) => file.includes(word))
  })
  return {
    selected: [...new Set(found.flat())],
    unknown: wanted.filter((_, index) => found[index]?.length === 0),
  }
}
