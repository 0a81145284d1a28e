import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = dirname(dirname(import.meta.dirname))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('every relative link of a page refers to a file, and its anchor to a heading', () => {
  const pages = globSync(
    [
      '*.md',
      '{docs,examples,deploy}/**/*.md',
      'site/*.md',
      'packages/*/{README,CHANGELOG}.md',
      'packages/*/test/*/README.md',
    ],
    { cwd: root },
  )
  assert.ok(pages.length > 60, `${pages.length} pages`)
  assert.deepEqual(
    pages.flatMap((page) => findBrokenLinks(page, read(page)).map((link) => `${page}: ${link}`)),
    [],
  )
})

test('a missing file and a missing heading are found, and code is ignored', () => {
  const page = [
    '[there](CONTRIBUTING.md#how-tests-are-organised), [here](#first-steps-put-user), [web](https://example.com/x)',
    '## First steps: `PUT /user`',
    '[lost](docs/lost.md), [lost heading](CONTRIBUTING.md#lost), [lost here](#lost)',
    '```sh',
    '[ -e lost ](lost.md)',
    '```',
  ].join('\n')
  assert.deepEqual(findBrokenLinks('README.md', page), [
    'docs/lost.md',
    'CONTRIBUTING.md#lost',
    '#lost',
  ])
})

function findBrokenLinks(page: string, text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(root, target))) return true
    if (anchor === undefined || !target.endsWith('.md')) return false
    return !findAnchors(target === page ? text : read(target)).has(anchor)
  })
}

/** The anchors that GitHub gives to the headings of a page. */
function findAnchors(text: string): Set<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```.*?^ *```$/gms, '')
}
