import type { StatisticType } from '../line-format.ts'

/** One entry of a mapping file. */
export interface MapperRule {
  readonly pattern: NamePattern
  /** Undefined for all of them. */
  readonly type: StatisticType | undefined
  readonly isDropped: boolean
  /** With `$1`… for what the pattern caught. */
  readonly name: string
  /** The values with `$1`… as well. */
  readonly labels: readonly (readonly [string, string])[]
  readonly help: string | undefined
  readonly buckets: readonly number[]
  readonly scale: number | undefined
  readonly honorsTags: boolean
}

export type NamePattern =
  | { readonly kind: 'regex'; readonly expression: RegExp }
  /** `*` stands for one whole part. */
  | { readonly kind: 'glob'; readonly parts: readonly string[] }

/** What the pattern caught, the whole name first; undefined when it does not match. */
export function matchName(pattern: NamePattern, name: string): readonly string[] | undefined {
  if (pattern.kind === 'regex') return pattern.expression.exec(name) ?? undefined
  const parts = name.split('.')
  if (parts.length !== pattern.parts.length) return undefined
  const caught = [name]
  for (const [i, wanted] of pattern.parts.entries()) {
    const part = parts[i] ?? ''
    if (wanted === '*') caught.push(part)
    else if (wanted !== part) return undefined
  }
  return caught
}
