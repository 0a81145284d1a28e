import type { OnlineVersion } from '../versions.ts'

interface MenuLink {
  readonly text: string
  readonly link: string
  readonly target?: '_self'
}

/** A menu in the form that VitePress expects. */
export interface VersionMenu {
  readonly text: string
  readonly items: readonly (MenuLink | { readonly text: string; readonly items: MenuLink[] })[]
}

/** The menu in the header, which shows the version of the pages and leads to the others. */
export function toVersionMenu(
  version: string,
  earlier: readonly OnlineVersion[],
  findUrl: (source: string) => string,
): VersionMenu {
  const links: MenuLink[] = [
    { text: 'Changelog', link: findUrl('CHANGELOG.md') },
    { text: 'Versions and support', link: findUrl('docs/releases.md') },
  ]
  const others = earlier.map(
    (other): MenuLink => ({
      text: `v${other.version}`,
      link: other.url,
      // VitePress opens other sites in a new tab, but this is the same manual.
      target: '_self',
    }),
  )
  const items =
    others.length === 0 ? links : [...links, { text: 'Earlier versions', items: others }]
  return { text: `v${version}`, items }
}
