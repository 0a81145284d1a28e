import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadSite } from '../src/site.ts'
import { writeSite } from '../src/write-site.ts'

const site = loadSite()

function write(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const drawDiagram = () => '<svg width="300.5" height="10"/>'
  const target = { folder, outDir: '/srv/docs', base: '/docs/', drawDiagram }
  writeSite(site, target)
  return { folder, repeat: () => writeSite(site, target) }
}

test('every link of a written page refers to a written page or file', (t) => {
  const { folder } = write(t)
  const pages = globSync('pages/**/*.md', { cwd: folder })
  assert.equal(pages.length, site.pages.length + 1)
  const targetExists = (link: string) => {
    const [path = ''] = link.split('#')
    return [`${path}.md`, join('public', path)].some((file) =>
      existsSync(join(folder, 'pages', file)),
    )
  }
  for (const page of pages) {
    const text = readFileSync(join(folder, page), 'utf8')
    assert.doesNotMatch(text, /^```mermaid/m, page)
    const links = [...text.matchAll(/\]\((\/[^)\s]+)\)|"link": "([^"]+)"/g)]
    for (const [, link, action] of links) {
      assert.ok(targetExists(link ?? action ?? ''), `${page}: ${link ?? action}`)
    }
  }
})

test('the settings have the navigation, the version, the icon, the result folder and the path', (t) => {
  const { folder } = write(t)
  const settings = JSON.parse(readFileSync(join(folder, 'site.json'), 'utf8'))
  assert.deepEqual([settings.outDir, settings.base], ['/srv/docs', '/docs/'])
  assert.deepEqual(
    settings.nav.slice(0, -1).map(({ text }: { readonly text: string }) => text),
    ['Together', 'GraphQL over HTTP', 'Auth', 'Rate limits', 'Operate'],
  )
  const menu = settings.nav.at(-1)
  assert.match(menu.text, /^v\d+\.\d+\.\d+$/)
  for (const { link } of menu.items.slice(0, 2)) {
    assert.ok(existsSync(join(folder, 'pages', `${link}.md`)), link)
  }
  const icon = settings.iconUrl.replace('/docs/', 'pages/public/')
  assert.match(readFileSync(join(folder, icon), 'utf8'), /^<svg /)
  assert.equal(settings.sidebar['/auth/'][0].text, 'Get started')
})

test('a page that no longer exists is removed when the site is written again', (t) => {
  const { folder, repeat } = write(t)
  const old = join(folder, 'pages', 'auth', 'old.md')
  writeFileSync(old, '# Old\n')
  repeat()
  assert.ok(!existsSync(old))
})

test('a diagram that cannot be drawn is reported with its page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
  const drawDiagram = () => {
    throw new Error('unknown shape')
  }
  try {
    assert.throws(
      () => writeSite(site, { folder, outDir: '', base: '/', drawDiagram }),
      /^Error: docs\/\S+\.md: a diagram cannot be drawn: unknown shape$/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
