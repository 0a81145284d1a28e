/** A page that shows a file of the repository, or some of its sections. */
export interface FilePage {
  readonly title: string
  /** The path in the repository. */
  readonly source: string
  /** The second-level headings whose sections the page contains. */
  readonly headings: 'all' | readonly string[]
  /** Whether it begins with the title of the file and the text above the first section. */
  readonly hasIntro: boolean
}

/** A page that is generated from the code when the site is built. */
export interface GeneratedPage {
  readonly title: string
  readonly generated: 'auth-api' | 'rule-keys'
}

export type Page = FilePage | GeneratedPage

export interface Section {
  readonly title: string
  /** The first part of the addresses of its pages. */
  readonly path: string
  readonly groups: Readonly<Record<string, readonly Page[]>>
}

/** The groups that each product has, in this order. */
type ProductGroup = 'Get started' | 'Guides' | 'Reference' | 'Migrate' | 'Operate' | 'Design'

export interface Product extends Section {
  readonly groups: Readonly<Record<ProductGroup, readonly Page[]>>
}

/** A page that shows a whole file. */
export const whole = (source: string, title: string): FilePage => ({
  title,
  source,
  headings: 'all',
  hasIntro: true,
})

/** The page with which a file begins that is split into several pages: its introduction and these sections. */
export const first = (source: string, title: string, ...headings: readonly string[]): FilePage => ({
  title,
  source,
  headings,
  hasIntro: true,
})

/** A page with one section of a file, or with these sections under its own title. */
export const part = (source: string, title: string, ...headings: readonly string[]): FilePage => ({
  title,
  source,
  headings: headings.length > 0 ? headings : [title],
  hasIntro: false,
})

export const decision = (name: string, title: string) => whole(`docs/decisions/${name}.md`, title)
