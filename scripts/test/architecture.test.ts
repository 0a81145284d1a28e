import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { boundaries } from '../boundaries/allowed-imports/index.ts'
import { findCycles } from '../boundaries/cycles.ts'
import { renewDiagrams } from '../boundaries/diagrams.ts'

const root = dirname(dirname(import.meta.dirname))
const pagePath = join(root, 'docs/architecture.md')
const command = 'UPDATE_DOCS=1 npm test -- scripts/test/architecture.test.ts'

test('the diagrams in docs/architecture.md match the lists in scripts/boundaries', () => {
  const page = readFileSync(pagePath, 'utf8')
  const renewed = renewDiagrams(page, boundaries.packages)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(pagePath, renewed)
  else assert.equal(page, renewed, `Regenerate the diagrams: ${command}`)
})

test('docs/architecture.md has a diagram of the packages, and one of each product', () => {
  const page = readFileSync(pagePath, 'utf8')
  const drawn = [...page.matchAll(/<!-- diagram of ([^\s,]+)/g)].map(([, name]) => name)
  assert.deepEqual(drawn, ['packages', 'portcullis', 'graphql-over-http', 'ratelimit', 'auth'])
})

test('no diagram in docs/architecture.md has a cycle, except the one of auth, whose features are one box', () => {
  const page = readFileSync(pagePath, 'utf8')
  const cyclic = page
    .split('<!-- diagram of ')
    .slice(1)
    .filter((text) => findCycles(readArrows(text)).length > 0)
    .map((text) => /^[^\s,]+/.exec(text)?.[0])
  assert.deepEqual(cyclic, ['auth'])
})

function readArrows(text: string): Map<string, string[]> {
  const arrows = new Map<string, string[]>()
  const [diagram = ''] = text.split('<!-- end of diagram -->')
  for (const [, from = '', to = ''] of diagram.matchAll(/^ {2}(\S+) -.*?>(?:\|.*\|)? (.+)$/gm)) {
    arrows.set(from, [...(arrows.get(from) ?? []), ...to.split(' & ')])
  }
  return arrows
}

const small = {
  door: {
    'main.ts': { inside: 'rooms/**', outside: '@portcullis/key/cut @portcullis/lamp' },
    'rooms/': { types: 'rooms/attic/ ./' },
    'rooms/attic/': { types: 'main.ts', inside: './' },
    'app.ts': { inside: '**' },
    './': {},
  },
  key: { './': { types: '@portcullis/lamp/glass' } },
  lamp: { './': {} },
}

test('a diagram of a package has an arrow for each allowed import, dotted for types', () => {
  const page = '<!-- diagram of door, by a test -->\nold\n<!-- end of diagram -->\n'
  assert.equal(
    renewDiagrams(page, small),
    [
      '<!-- diagram of door, by a test -->',
      '```mermaid',
      'flowchart TD',
      '  main_ts["main.ts"]',
      '  rooms_["rooms/"]',
      '  app_ts["app.ts<br>may import everything"]',
      '  other_files["other files"]',
      '  main_ts --> rooms_',
      '  rooms_ --> other_files',
      '  rooms_ -.-> main_ts',
      '```',
      '<!-- end of diagram -->\n',
    ].join('\n'),
  )
})

test('a diagram can draw the folders in a folder', () => {
  const page = '<!-- diagram of door with rooms/*, by a test -->\n<!-- end of diagram -->\n'
  const drawn = renewDiagrams(page, small)
  assert.match(drawn, / {2}rooms_\["rooms\/"\]\n {2}rooms_attic_\["rooms\/attic\/"\]\n/)
  assert.match(drawn, / {2}main_ts --> rooms_ & rooms_attic_\n/)
  assert.match(drawn, / {2}rooms_ -\.-> rooms_attic_ & other_files\n/)
})

test('a diagram of packages names the subpaths that are imported', () => {
  const page = '<!-- diagram of packages, by a test --><!-- end of diagram -->'
  assert.match(
    renewDiagrams(page.replace('><', '>\n<'), small),
    / {2}lamp\n {2}door -->\|cut\| key\n {2}door --> lamp\n {2}key -->\|glass\| lamp\n/,
  )
})

test('every file and folder that docs/architecture.md names exists', () => {
  assert.deepEqual(findMissingPaths(readFileSync(pagePath, 'utf8')), [])
})

test('a path that does not exist is found, with its line', () => {
  const page = [
    '# Architecture',
    '`docs/lost.md` and [a page](lost.md)',
    '## auth',
    '`src/app.ts`, `src/lost.ts`',
    '`src/http/`: `server.ts`, `lost/`',
    '## Somewhere',
    '`src/app.ts` `packages/auth/src/app.ts` `packages/*/src/main.ts` `packages/*/src/lost.ts`',
  ].join('\n')
  assert.deepEqual(findMissingPaths(page), [
    'line 2: docs/lost.md',
    'line 2: lost.md',
    'line 4: src/lost.ts',
    'line 5: lost/',
    'line 7: src/app.ts',
    'line 7: packages/*/src/lost.ts',
  ])
})

test('each main flow has at most eight stops, and each stop begins with its file', () => {
  const flows = readFileSync(pagePath, 'utf8').split(/^### What happens when /m)
  const stops = flows.slice(1).map((flow) => flow.match(/^\d\. `src\/[\w/-]+\.ts`/gm)?.length)
  const items = flows.slice(1).map((flow) => flow.match(/^\d+\. /gm)?.length)
  assert.deepEqual(stops, items)
  assert.equal(stops.length, 3)
  for (const count of stops) assert.ok(count !== undefined && count <= 8)
})

/** Headings that do not contain the name of their package. */
const packageOfHeading: Readonly<Record<string, string>> = {
  'GraphQL over HTTP': 'graphql-over-http',
  'Rate limits': 'ratelimit',
  Authentication: 'auth',
}

/**
 * Paths are in backquotes or are the target of a link. `src/…` is in the package of the heading
 * above; after a folder, names on the same line may be relative to it; other paths are relative to
 * the repository.
 */
function findMissingPaths(page: string): string[] {
  let home: string | undefined
  return page.split('\n').flatMap((line, index) => {
    const [, level = '', heading = ''] = /^(#+) (.*)$/.exec(line) ?? []
    if (level) home = findHome(heading) ?? (level.length < 3 ? undefined : home)
    const bases = [root, ...(home === undefined ? [] : [home])]
    const missing: string[] = []
    for (const [, path = ''] of line.matchAll(/`([\w.*-]+(?:\/[\w.*-]*)*)`/g)) {
      if (!path.includes('/') && !/\.(?:tsx?|mjs|md|json|css|sql|html|ya?ml)$/.test(path)) continue
      const base = bases.find((each) => exists(each, path))
      if (base === undefined) missing.push(path)
      else if (path.endsWith('/')) bases.push(join(base, path))
    }
    const links = [...line.matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path)
    missing.push(...links.filter((path) => !exists(dirname(pagePath), path)))
    return missing.map((path) => `line ${index + 1}: ${path}`)
  })
}

function findHome(heading: string): string | undefined {
  const name = packageOfHeading[heading] ?? heading.replaceAll('`', '')
  const folder = join(root, 'packages', name)
  return /^[\w-]+$/.test(name) && existsSync(folder) ? folder : undefined
}

function exists(base: string, path: string): boolean {
  return path.includes('*')
    ? globSync(path, { cwd: base }).length > 0
    : existsSync(join(base, path))
}
