import {
  type Chapter,
  type Document,
  findAnchors,
  parseDocument,
  promoteHeadings,
  toAnchor,
} from './document.ts'
import type { FilePage, GeneratedPage, Section } from './page.ts'

interface Place {
  /** Starts with a slash, without a file extension. */
  readonly url: string
  readonly title: string
  readonly section: Section
  readonly group: string
}

/** A page of the site with the Markdown that it shows. Its links are still those of the file. */
export interface WrittenPage extends Place {
  readonly source: string
  readonly hasIntro: boolean
  readonly text: string
}

export interface GeneratedPlace extends Place {
  readonly generated: GeneratedPage['generated']
}

export interface SiteMap {
  readonly written: readonly WrittenPage[]
  readonly generated: readonly GeneratedPlace[]
  /** What is wrong in the navigation, a sentence each. */
  readonly faults: readonly string[]
}

/** Arranges files as the navigation says. @param read returns the text of a file, if it exists. */
export function createSiteMap(
  navigation: readonly Section[],
  read: (source: string) => string | undefined,
): SiteMap {
  const faults: string[] = []
  const documents = new Map<string, Document | undefined>()
  const used = new Map<string, string[]>()
  const urls = new Set<string>()
  const written: WrittenPage[] = []
  const generated: GeneratedPlace[] = []

  for (const { page, place } of listPlaces(navigation)) {
    if (urls.has(place.url)) faults.push(`Two pages have the address ${place.url}.`)
    urls.add(place.url)
    if ('generated' in page) {
      generated.push({ ...place, generated: page.generated })
      continue
    }
    const { source } = page
    if (!documents.has(source)) documents.set(source, toDocument(read(source)))
    const document = documents.get(source)
    if (document === undefined) {
      faults.push(`${source} does not exist or does not begin with a title.`)
      continue
    }
    const headings = listHeadings(page, document)
    const known = new Set(listHeadings({ ...page, headings: 'all' }, document))
    for (const heading of headings.filter((name) => !known.has(name))) {
      faults.push(`${source} has no heading "${heading}".`)
    }
    used.set(source, [...(used.get(source) ?? []), ...headings])
    written.push({ ...place, source, hasIntro: page.hasIntro, text: compose(page, document) })
  }

  for (const [source, headings] of used) {
    const beginnings = written.filter((page) => page.source === source && page.hasIntro)
    if (beginnings.length !== 1) {
      faults.push(`${beginnings.length} pages show the introduction of ${source}, instead of one.`)
    }
    for (const { heading } of documents.get(source)?.chapters ?? []) {
      const count = headings.filter((name) => name === heading).length
      if (count === 0) faults.push(`No page contains the section "${heading}" of ${source}.`)
      if (count > 1) faults.push(`The section "${heading}" of ${source} is listed ${count} times.`)
    }
  }
  return { written, generated, faults }
}

function listPlaces(navigation: readonly Section[]) {
  return navigation.flatMap((section) =>
    Object.entries(section.groups).flatMap(([group, pages]) =>
      pages.map((page) => ({
        page,
        place: {
          url: `/${section.path}/${toAnchor(page.title.replaceAll('/', ' '))}`,
          title: page.title,
          section,
          group,
        },
      })),
    ),
  )
}

function toDocument(text: string | undefined): Document | undefined {
  try {
    return text === undefined ? undefined : parseDocument(text)
  } catch {
    return undefined
  }
}

function listHeadings({ headings }: FilePage, { chapters }: Document): readonly string[] {
  return headings === 'all' ? chapters.map(({ heading }) => heading) : headings
}

function compose(page: FilePage, document: Document): string {
  const headings = listHeadings(page, document)
  const chapters = document.chapters.filter(({ heading }) => headings.includes(heading))
  if (page.hasIntro) return join(`# ${document.title}`, document.intro, chapters)
  const [only] = chapters
  if (only !== undefined && chapters.length === 1) return `${promoteHeadings(only.text)}\n`
  return join(`# ${page.title}`, '', chapters)
}

function join(title: string, intro: string, chapters: readonly Chapter[]): string {
  const parts = [title, intro, ...chapters.map(({ text }) => text)]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Finds the page of the site that shows a part of a file. */
export function createPageFinder(written: readonly WrittenPage[]) {
  const bySource = Map.groupBy(
    written.map((page) => ({ page, anchors: new Set(findAnchors(page.text)) })),
    ({ page }) => page.source,
  )
  return (source: string, anchor: string | undefined): WrittenPage | 'no heading' | undefined => {
    const found = bySource.get(source)
    if (found === undefined) return undefined
    if (anchor === undefined) return found.find(({ page }) => page.hasIntro)?.page
    return found.find(({ anchors }) => anchors.has(anchor))?.page ?? 'no heading'
  }
}
