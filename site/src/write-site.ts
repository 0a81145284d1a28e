import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { type DrawDiagram, replaceDiagrams, type Theme, themeNames } from './diagrams.ts'
import { parseDocument } from './document.ts'
import { toImageUrl } from './links.ts'
import { icon, type ReadyPage, root, type Site } from './site.ts'

export interface Target {
  readonly folder: string
  /** Where VitePress writes the result. */
  readonly outDir: string
  /** The path of the site on its server. */
  readonly base: string
  readonly drawDiagram: DrawDiagram
}

/**
 * Writes the site as the input of VitePress: pages, static files and `site.json`, from which
 * `.vitepress/config.ts` reads the navigation. Only files that change are written, so that a server
 * that watches the folder reloads nothing else.
 */
export function writeSite(site: Site, target: Target): void {
  const { folder, outDir, base, drawDiagram } = target
  const expected = new Set<string>()
  const write = (path: string, content: string) => {
    expected.add(path)
    writeIfChanged(join(folder, path), content)
  }
  const draw = (page: ReadyPage, source: string, theme: Theme) => {
    try {
      return drawDiagram(source, theme)
    } catch (cause) {
      throw new Error(`${page.source}: a diagram cannot be drawn: ${toMessage(cause)}`, { cause })
    }
  }
  const publicFile = (url: string) => join('pages', 'public', url)

  write('site.json', toJson({ ...toSettings(site, base), outDir, base }))
  write(publicFile('openapi.json'), toJson(site.openApi))
  write('pages/index.md', toPage(site.home, ''))
  for (const page of site.pages) {
    const text = replaceDiagrams(page.text, (source) => {
      const name = createHash('sha256').update(source).digest('hex').slice(0, 12)
      const [light] = themeNames.map((theme) => {
        const svg = draw(page, source, theme)
        write(publicFile(`/files/diagrams/${name}-${theme}.svg`), svg)
        return svg
      })
      return { url: `/files/diagrams/${name}`, width: toWidth(light ?? '') }
    })
    write(join('pages', `${page.url}.md`), toPage(toFrontmatter(page, site), text))
  }
  for (const image of site.images) {
    const path = publicFile(toImageUrl(image))
    expected.add(path)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(root, image), join(folder, path))
  }
  for (const path of globSync('pages/**/*.*', { cwd: folder })) {
    if (!expected.has(path)) rmSync(join(folder, path))
  }
}

const toWidth = (svg: string) => Math.ceil(Number(/ width="([\d.]+)"/.exec(svg)?.[1] ?? 0))

/** What `.vitepress/config.ts` needs. */
function toSettings({ versionMenu, repositoryUrl, sections }: Site, base: string): object {
  return {
    // VitePress does not add the path of the site to links in the head of a page.
    iconUrl: `${base}${toImageUrl(icon).slice(1)}`,
    repositoryUrl,
    nav: [
      ...sections.map(({ title, path, groups }) => ({
        text: title,
        link: groups[0]?.pages[0]?.url,
        activeMatch: `^/${path}/`,
      })),
      versionMenu,
    ],
    sidebar: Object.fromEntries(
      sections.map(({ path, groups }) => [
        `/${path}/`,
        groups.map(({ title, pages }) => ({
          text: title,
          items: pages.map((page) => ({ text: page.title, link: page.url })),
        })),
      ]),
    ),
  }
}

function toFrontmatter({ text, place, source }: ReadyPage, { repositoryUrl }: Site): object {
  const [section] = place
  return {
    title: parseDocument(text).title.replaceAll('`', ''),
    // Several sections have a page with the same title.
    titleTemplate: `:title | ${section} | Portcullis`,
    place: place.join(' / '),
    ...(source === undefined
      ? { editLink: false }
      : { sourceUrl: `${repositoryUrl}/blob/main/${source}` }),
  }
}

// Every JSON document is also a YAML document.
const toPage = (frontmatter: object, text: string) => `---\n${toJson(frontmatter)}---\n\n${text}`

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`

function writeIfChanged(path: string, content: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
