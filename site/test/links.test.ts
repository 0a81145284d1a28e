import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Repository, rewriteLinks } from '../src/links.ts'
import { first, part, type Section, whole } from '../src/page.ts'
import { createPageFinder, createSiteMap } from '../src/site-map.ts'

const files: Readonly<Record<string, string>> = {
  'docs/server.md': '# Server\n\n## Start\n\n## Stop\n',
  'docs/images/a.svg': '<svg/>',
  'packages/auth/README.md': '# Auth\n\n## Tests\n',
  'deploy/README.md': '# Deploy\n',
}

const repository: Repository = {
  url: 'https://git.example/portcullis',
  read: (path) => files[path],
  kindOf: (path) => {
    if (files[path] !== undefined) return 'file'
    return Object.keys(files).some((file) => file.startsWith(`${path}/`)) ? 'folder' : undefined
  },
}

/** The result for a page docs/page.md with this text. */
function rewrite(text: string) {
  const read = (path: string) => (path === 'docs/page.md' ? `# Page\n\n${text}\n` : files[path])
  const section: Section = {
    title: 'Auth',
    path: 'auth',
    groups: {
      Guides: [
        whole('docs/page.md', 'Page'),
        part('docs/server.md', 'End', 'Stop'),
        first('docs/server.md', 'Begin', 'Start'),
        whole('deploy/README.md', 'Deploy'),
      ],
    },
  }
  const { written } = createSiteMap([section], read)
  const page = written.find(({ source }) => source === 'docs/page.md')
  assert.ok(page)
  const result = rewriteLinks(page, createPageFinder(written), repository)
  return { ...result, text: result.text.replace('# Page\n\n', '').trim() }
}

test('a link to a file becomes a link to the page that shows this section of it', () => {
  const { text, faults } = rewrite(
    '[a](server.md) [b](server.md#stop) [c](../deploy/README.md) [d](../deploy) [e](#page)',
  )
  assert.deepEqual(faults, [])
  assert.equal(
    text,
    '[a](/auth/begin) [b](/auth/end#stop) [c](/auth/deploy) [d](/auth/deploy) [e](/auth/page#page)',
  )
})

test('a file that the site does not show is linked in the repository', () => {
  const { text, faults } = rewrite('[a](../packages/auth/README.md#tests) [b](../packages/auth)')
  assert.deepEqual(faults, [])
  assert.equal(
    text,
    '[a](https://git.example/portcullis/blob/main/packages/auth/README.md#tests) ' +
      '[b](https://git.example/portcullis/tree/main/packages/auth)',
  )
})

test('images are copied into the site, and code blocks are not changed', () => {
  const { text, images, faults } = rewrite('![A](images/a.svg)\n\n```md\n[x](lost.md)\n```')
  assert.deepEqual([images, faults], [['docs/images/a.svg'], []])
  assert.equal(text, '![A](/files/docs/images/a.svg)\n\n```md\n[x](lost.md)\n```')
})

test('missing files and headings, and images on other servers, are reported', () => {
  const { faults } = rewrite(
    '[a](lost.md) [b](server.md#lost) [c](../packages/auth/README.md#lost) ![d](lost.png) ![e](https://x.example/e.png)',
  )
  assert.deepEqual(faults, [
    'docs/page.md: lost.md does not exist.',
    'docs/page.md: server.md#lost refers to a missing heading.',
    'docs/page.md: ../packages/auth/README.md#lost refers to a missing heading.',
    'docs/page.md: no image lost.png.',
    'docs/page.md: https://x.example/e.png is an image on another server.',
  ])
})
