import { basename } from 'node:path'
import type { ImportGraph } from './import-graph.ts'

/**
 * The test files that load the file, nearest first: the one at the same path below `test`, those
 * that import the file, and then those that share words of its path. Most tests of a server have
 * the same distance in imports from each of its files, so words are a better criterion than that
 * distance.
 */
export function findNearestTests(graph: ImportGraph, file: string): string[] {
  const distances = measureDistances(graph, file)
  const words = toWords(file)
  const mirror = file.replace('/src/', '/test/').replace(/\.ts$/, '.test.ts')
  const ranked = [...distances]
    .filter(([path]) => path.endsWith('.test.ts'))
    .map(([path, distance]) => {
      const isOther = toPackage(path) !== toPackage(file)
      const group = path === mirror ? 0 : distance === 1 ? 1 : 2
      const rank = Math.min(distance, 3) - 2 * countShared(words, toWords(path))
      return { path, isOther, group, rank, distance }
    })
  return ranked
    .sort(
      (a, b) =>
        Number(a.isOther) - Number(b.isOther) ||
        a.group - b.group ||
        a.rank - b.rank ||
        a.distance - b.distance ||
        a.path.localeCompare(b.path),
    )
    .map(({ path }) => path)
}

/** The number of imports between the file and each module that loads it. */
function measureDistances(graph: ImportGraph, file: string): Map<string, number> {
  const importers = new Map<string, string[]>()
  for (const [path, imports] of graph) {
    for (const imported of imports) {
      const known = importers.get(imported)
      if (known) known.push(path)
      else importers.set(imported, [path])
    }
  }
  const distances = new Map([[file, 0]])
  for (const [path, distance] of distances) {
    for (const importer of importers.get(path) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}

const toPackage = (path: string) => path.split('/').slice(0, 2).join('/')

/** The words of the name, and the folders below `src` or `test`, in the singular. */
function toWords(path: string): ReadonlySet<string> {
  const folders = path.split('/').slice(3, -1)
  const name = basename(path).replace(/(\.test)?\.ts$/, '')
  return new Set([...folders, ...name.split('-')].map((word) => word.replace(/s$/, '')))
}

const countShared = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  [...a].filter((word) => b.has(word)).length
