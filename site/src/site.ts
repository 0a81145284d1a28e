import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { navigation } from '../navigation.ts'
import { earlierVersions } from '../versions.ts'
import { createOpenApiDocument, toAuthApiPage } from './auth-api-page.ts'
import { createHome } from './home.ts'
import { type Repository, rewriteLinks } from './links.ts'
import type { Section } from './page.ts'
import { toRuleKeysPage } from './rule-keys-page.ts'
import {
  createPageFinder,
  createSiteMap,
  type GeneratedPlace,
  type SiteMap,
  type WrittenPage,
} from './site-map.ts'
import { toVersionMenu, type VersionMenu } from './version-menu.ts'

export const root = dirname(dirname(import.meta.dirname))

/** A page as the generator reads it. */
export interface ReadyPage {
  readonly url: string
  /** Section and group, which are shown above the title. */
  readonly place: readonly [section: string, group: string]
  /** The file that the page was made from; undefined for a generated page. */
  readonly source: string | undefined
  readonly text: string
}

/** The symbol of the site in browser tabs. */
export const icon = 'docs/images/icon.svg'

export interface Site {
  readonly versionMenu: VersionMenu
  readonly repositoryUrl: string
  readonly home: object
  readonly pages: readonly ReadyPage[]
  /** Paths of images in the repository. */
  readonly images: readonly string[]
  readonly openApi: object
  readonly sections: readonly SiteSection[]
  /** What is wrong in navigation and links, a sentence each. */
  readonly faults: readonly string[]
}

export interface SiteSection {
  readonly title: string
  readonly path: string
  readonly groups: readonly {
    readonly title: string
    readonly pages: readonly { readonly title: string; readonly url: string }[]
  }[]
}

/** Reads everything that the site shows, from the repository and the code. */
export function loadSite(): Site {
  const manifest = JSON.parse(readFile('package.json') ?? '{}') as {
    readonly version: string
    readonly repository: { readonly url: string }
  }
  const repositoryUrl = manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
  const repository: Repository = { url: repositoryUrl, read: readFile, kindOf }
  const map = createSiteMap(navigation, readFile)
  const findPage = createPageFinder(map.written)
  const linked = map.written.map((page) => ({ page, ...rewriteLinks(page, findPage, repository) }))
  const openApi = createOpenApiDocument(manifest.version)
  const generators = {
    'auth-api': () => toAuthApiPage(openApi),
    'rule-keys': () =>
      toRuleKeysPage(JSON.parse(readFile('packages/ratelimit/schema/rules.schema.json') ?? '{}')),
  }
  const faults = [...map.faults, ...linked.flatMap((page) => page.faults)]
  const findUrl = (source: string) => {
    const page = findPage(source, undefined)
    if (page === undefined || page === 'no heading') throw new Error(`No page shows ${source}.`)
    return page.url
  }
  return {
    versionMenu: toVersionMenu(manifest.version, earlierVersions, findUrl),
    repositoryUrl,
    home: createHome(findUrl),
    pages: [
      ...linked.map(({ page, text }) => ({
        url: page.url,
        place: toPlace(page),
        source: page.source,
        text,
      })),
      ...map.generated.map((page) => ({
        url: page.url,
        place: toPlace(page),
        source: undefined,
        text: generators[page.generated](),
      })),
    ],
    images: [...new Set([icon, 'docs/images/gate.svg', ...linked.flatMap(({ images }) => images)])],
    openApi,
    sections: navigation.map((section) => toSiteSection(section, map)),
    faults,
  }
}

function toPlace({ section, group }: GeneratedPlace | WrittenPage): ReadyPage['place'] {
  return [section.title, group]
}

function toSiteSection(section: Section, { written, generated }: SiteMap): SiteSection {
  const places = [...written, ...generated]
  return {
    title: section.title,
    path: section.path,
    groups: Object.entries(section.groups).map(([title, pages]) => ({
      title,
      pages: pages.map((page) => {
        const isPlace = (place: (typeof places)[number]) =>
          place.section === section && place.title === page.title
        return { title: page.title, url: places.find(isPlace)?.url ?? '' }
      }),
    })),
  }
}

function readFile(path: string): string | undefined {
  return kindOf(path) === 'file' ? readFileSync(join(root, path), 'utf8') : undefined
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  const found = statSync(join(root, path), { throwIfNoEntry: false })
  if (found === undefined) return undefined
  return found.isDirectory() ? 'folder' : 'file'
}
