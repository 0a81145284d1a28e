import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { navigation } from '../navigation.ts'
import { first, part, type Section, whole } from '../src/page.ts'
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
const source = 'docs/server.md'
const read = (path: string) => (path === source ? file : undefined)

test('a page can show some sections of a file; one section becomes a page with its own title', () => {
  const { written, faults } = createSiteMap(
    [section(first(source, 'Begin', 'Start'), part(source, 'End', 'Stop'))],
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
  const { faults } = createSiteMap(
    [
      section(
        part(source, 'Begin', 'Start', 'Pause'),
        part(source, 'Again', 'Start'),
        whole('docs/lost.md', 'Lost'),
        part(source, 'Begin', 'Start'),
      ),
    ],
    read,
  )
  assert.deepEqual(faults, [
    'docs/server.md has no heading "Pause".',
    'docs/lost.md does not exist or does not begin with a title.',
    'Two pages have the address /auth/begin.',
    '0 pages show the introduction of docs/server.md, instead of one.',
    'The section "Start" of docs/server.md is listed 3 times.',
    'No page contains the section "Stop" of docs/server.md.',
  ])
})

test('a whole file that is listed twice is reported', () => {
  const { faults } = createSiteMap([section(whole(source, 'One'), whole(source, 'Two'))], read)
  assert.deepEqual(faults, [
    '2 pages show the introduction of docs/server.md, instead of one.',
    'The section "Start" of docs/server.md is listed 2 times.',
    'The section "Stop" of docs/server.md is listed 2 times.',
  ])
})

test('a page can show only the introduction of a file', () => {
  const { written, faults } = createSiteMap(
    [section(first(source, 'Overview'), part(source, 'Life', 'Start', 'Stop'))],
    read,
  )
  assert.deepEqual(faults, [])
  assert.equal(written[0]?.text, '# Server\n\nIt serves.\n')
  assert.match(written[1]?.text ?? '', /^# Life\n\n## Start\n.*^## Stop$/ms)
})
