import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { servers } from '@portcullis/test-servers'
import { isLegName, legs } from './legs.ts'
import { parseTestHeader, type TestHeader } from './test-header.ts'

export const root = dirname(dirname(import.meta.dirname))

export interface TestFile extends TestHeader {
  /** The path relative to the repository. */
  readonly path: string
}

const places = [
  'packages/*/test/**/*.test.ts',
  'packages/*/bench/test/*.test.ts',
  'scripts/**/test/**/*.test.ts',
  'site/test/*.test.ts',
]

/** Invalid headers; the message has one line for each fault. */
export class TestHeaderError extends Error {
  override readonly name = 'TestHeaderError'
}

/** Every test file with its header, in the order of their paths. */
export function findTestFiles(): TestFile[] {
  const paths = globSync(places, { cwd: root, exclude: (name) => name.includes('node_modules') })
  const faults: string[] = []
  const files = paths.sort().map((path) => {
    const { header, faults: own } = parseTestHeader(readFileSync(join(root, path), 'utf8'))
    faults.push(...own.map(({ line, message }) => `${path}:${line}: ${message}`))
    faults.push(...findUnknownNames(header).map((message) => `${path}: ${message}`))
    return { path, ...header }
  })
  if (faults.length > 0) throw new TestHeaderError(faults.join('\n'))
  return files
}

function findUnknownNames({ legs: legNames, servers: serverNames }: TestHeader): string[] {
  const unknownLegs = legNames.filter((name) => !isLegName(name))
  const unknownServers = serverNames.filter((name) => !Object.hasOwn(servers, name))
  return [
    ...unknownLegs.map((name) => `unknown leg "${name}"; use ${Object.keys(legs).join(', ')}`),
    ...unknownServers.map(
      (name) => `unknown server "${name}"; use ${Object.keys(servers).join(', ')}`,
    ),
  ]
}
