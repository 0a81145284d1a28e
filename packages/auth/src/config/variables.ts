import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  integer,
  type Variable,
  type Variables,
  withAlias,
} from '@portcullis/service-kit/settings/env'

/** Each variable is also accepted under its GoTrue name: `AUTH_SITE_URL`, `GOTRUE_SITE_URL`. */
export function withOldNames<V extends Variables>(variables: V): V {
  return withAlias(variables, (name) => name.replace(/^AUTH_/, 'GOTRUE_'))
}

/**
 * For text that must not be empty: if it is set to an empty string, its default applies, as with
 * numbers.
 */
export function unlessBlank<Value>(variable: Variable<Value>): Variable<Value> {
  return { ...variable, type: { ...variable.type, takesEmpty: false } }
}

export const off = /^\s*off\s*$/i

/** A limit; `0` and `off` disable it, and both are returned as 0. */
export function switchableLimit(name: string, value: number, help: string): Variable<number> {
  const variable = integer(name, value, `${help}; 0 or off: no limit`)
  const allowed = 'a whole number of at least 0, or off'
  return {
    ...variable,
    type: {
      ...variable.type,
      name: 'integer, off',
      allowed,
      parse: (text) => (off.test(text) ? 0 : variable.type.parse(text)),
    },
    refuse: () => `must be ${allowed}`,
  }
}

/** Notes a disabled limit, because an operator may expect 0 to reject all requests. */
export function noteIfOff(variable: Variable<number>, value: number, check: Check): void {
  if (value === 0) check.note(`${check.nameOf(variable)} is off: these requests are not limited`)
}

/** `a, b or c` */
export function toAlternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
