import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { navigation } from '../navigation.ts'
import type { Section } from '../src/page.ts'
import { loadSite, root } from '../src/site.ts'
import { createSiteMap } from '../src/site-map.ts'

test('every page of docs/ is in the navigation', () => {
  const listed = new Set(
    navigation.flatMap(({ groups }) =>
      Object.values(groups)
        .flat()
        .map((page) => ('source' in page ? page.source : '')),
    ),
  )
  const missing = globSync('docs/**/*.md', { cwd: root }).filter((path) => !listed.has(path))
  assert.deepEqual(missing, [], 'add these pages to site/navigation.ts')
})

test('every section of a page is shown once, and every link refers to a page, a heading or a file', () => {
  assert.deepEqual(loadSite().faults, [])
})

const section = (...pages: Section['groups'][string]): Section => ({
  title: 'Auth',
  path: 'auth',
  groups: { Guides: pages },
})

const file =
  '# Server\n\nIt serves.\n\n## Start\n\nStart it.\n\n```sh\n## not a heading\n```\n\n## Stop\n\n### At once\n'
const read = (source: string) => (source === 'docs/server.md' ? file : undefined)
const part = (title: string, ...headings: string[]) => ({
  title,
  source: 'docs/server.md',
  headings,
})

test('a page can show some sections of a file; one section becomes a page with its own title', () => {
  const { written, faults } = createSiteMap(
    [section(part('Begin', 'Start'), part('End', 'Stop'))],
    read,
  )
  assert.deepEqual(faults, [])
  assert.deepEqual(
    written.map(({ url, text }) => [url, text]),
    [
      [
        '/auth/begin',
        '# Server\n\nIt serves.\n\n## Start\n\nStart it.\n\n```sh\n## not a heading\n```\n',
      ],
      ['/auth/end', '# Stop\n\n## At once\n'],
    ],
  )
})

test('missing files, and sections that are missing, unknown or listed twice, are reported', () => {
  const lost = { title: 'Lost', source: 'docs/lost.md', headings: [] }
  const { faults } = createSiteMap(
    [
      section(
        part('Begin', 'Start', 'Pause'),
        part('Again', 'Start'),
        lost,
        part('Begin', 'Start'),
      ),
    ],
    read,
  )
  assert.deepEqual(faults, [
    'docs/server.md has no heading "Pause".',
    'docs/lost.md does not exist or does not begin with a title.',
    'Two pages have the address /auth/begin.',
    'The section "Start" of docs/server.md is listed 3 times.',
    'No page contains the section "Stop" of docs/server.md.',
  ])
})

test('a whole file that is listed twice is reported', () => {
  const { faults } = createSiteMap([section(part('One'), part('Two'))], read)
  assert.ok(faults.includes('docs/server.md is listed twice.'), faults.join('\n'))
})
