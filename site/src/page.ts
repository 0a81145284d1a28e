/** A page that shows a file of the repository, or some of its sections. */
export interface FilePage {
  readonly title: string
  /** The path in the repository. */
  readonly source: string
  /**
   * The second-level headings that the page contains; without them it contains the whole file. The
   * text above the first heading of a file is part of the page that is listed first.
   */
  readonly headings: readonly string[]
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
export const whole = (source: string, title: string): FilePage => ({ title, source, headings: [] })

/** A page with one section, or with these sections under its own title. */
export const part = (source: string, title: string, ...headings: readonly string[]): FilePage => ({
  title,
  source,
  headings: headings.length > 0 ? headings : [title],
})

export const decision = (name: string, title: string) => whole(`docs/decisions/${name}.md`, title)
