import { dirname, join, normalize } from 'node:path/posix'
import { findAnchors, mapProse } from './document.ts'
import type { createPageFinder, WrittenPage } from './site-map.ts'

/** What links may refer to besides pages of the site. */
export interface Repository {
  /** The address of the repository on the web. */
  readonly url: string
  read(path: string): string | undefined
  kindOf(path: string): 'file' | 'folder' | undefined
}

export interface LinkedPage {
  readonly text: string
  /** Files that the page shows as images; the site contains a copy of each. */
  readonly images: readonly string[]
  readonly faults: readonly string[]
}

/** Where the site keeps the copy of an image. */
export const toImageUrl = (path: string) => `/files/${path}`

/**
 * Changes the links of a page, which are relative to its file, to addresses on the site, or in the
 * repository if the site does not show the file.
 */
export function rewriteLinks(
  page: WrittenPage,
  findPage: ReturnType<typeof createPageFinder>,
  repository: Repository,
): LinkedPage {
  const images: string[] = []
  const faults: string[] = []

  function resolve(link: string, isImage: boolean): string {
    if (/^[a-z]+:/.test(link)) {
      if (isImage) faults.push(`${page.source}: ${link} is an image on another server.`)
      return link
    }
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page.source : normalize(join(dirname(page.source), path))
    if (isImage) {
      if (repository.kindOf(target) !== 'file') faults.push(`${page.source}: no image ${link}.`)
      else images.push(target)
      return toImageUrl(target)
    }
    const found = findPage(target, anchor) ?? findPage(join(target, 'README.md'), anchor)
    if (found === undefined) return toRepositoryUrl(link, target, anchor)
    if (found === 'no heading') {
      faults.push(`${page.source}: ${link} refers to a missing heading.`)
      return link
    }
    return `${found.url}${anchor === undefined ? '' : `#${anchor}`}`
  }

  function toRepositoryUrl(link: string, target: string, anchor: string | undefined): string {
    const kind = repository.kindOf(target)
    if (kind === undefined) {
      faults.push(`${page.source}: ${link} does not exist.`)
      return link
    }
    const url = `${repository.url}/${kind === 'file' ? 'blob' : 'tree'}/main/${target}`
    if (anchor === undefined) return url
    const isHeading = findAnchors(repository.read(target) ?? '').includes(anchor)
    if (target.endsWith('.md') && !isHeading) {
      faults.push(`${page.source}: ${link} refers to a missing heading.`)
    }
    return `${url}#${anchor}`
  }

  const text = mapProse(page.text, (line) =>
    line.replaceAll(
      /(!\[[^\]]*)?\]\(([^)\s]+)\)/g,
      (_, image: string | undefined, link: string) =>
        `${image ?? ''}](${resolve(link, image !== undefined)})`,
    ),
  )
  return { text, images: [...new Set(images)], faults }
}
