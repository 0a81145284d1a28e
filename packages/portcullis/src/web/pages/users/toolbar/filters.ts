import type { FilterName, Filters } from '../search.ts'

interface FilterBase {
  readonly name: FilterName
  readonly label: string
}

/** A filter with two values. */
interface FlagFilter extends FilterBase {
  readonly kind: 'flag'
  /** The texts of `true` and `false`. */
  readonly words: readonly [string, string]
}

interface DateFilter extends FilterBase {
  readonly kind: 'date'
}

interface ProviderFilter extends FilterBase {
  readonly kind: 'provider'
}

export type Filter = FlagFilter | DateFilter | ProviderFilter

/** In the order in which they are shown. */
export const filters: readonly Filter[] = [
  { kind: 'flag', name: 'confirmed', label: 'Confirmed', words: ['Yes', 'No'] },
  { kind: 'flag', name: 'banned', label: 'Banned', words: ['Yes', 'No'] },
  { kind: 'flag', name: 'second_factor', label: 'Second factor', words: ['Yes', 'No'] },
  { kind: 'flag', name: 'anonymous', label: 'Anonymous', words: ['Yes', 'No'] },
  { kind: 'provider', name: 'provider', label: 'Provider' },
  { kind: 'date', name: 'created_from', label: 'Created from' },
  { kind: 'date', name: 'created_to', label: 'Created until' },
  { kind: 'flag', name: 'signed_in', label: 'Signed in', words: ['At least once', 'Never'] },
  { kind: 'date', name: 'seen_from', label: 'Last sign-in from' },
  { kind: 'date', name: 'seen_to', label: 'Last sign-in until' },
]

/** A filter that applies, with its value as text. */
export interface AppliedFilter extends FilterBase {
  readonly text: string
}

export function toAppliedFilters(values: Filters): readonly AppliedFilter[] {
  return filters.flatMap((filter) => {
    const value = values[filter.name]
    if (value === undefined) return []
    const { name, label } = filter
    return [{ name, label, text: toText(filter, value) }]
  })
}

function toText(filter: Filter, value: string): string {
  if (filter.kind !== 'flag') return value
  const [yes, no] = filter.words
  return ({ true: yes, false: no }[value] ?? value).toLowerCase()
}
