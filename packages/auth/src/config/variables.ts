import type { Check } from '@portcullis/service-kit/config-check'
import { integer, type Variable, type Variables, withAlias } from '@portcullis/service-kit/env'

/** Every variable has the name of the server before as well: `AUTH_SITE_URL`, `GOTRUE_SITE_URL`. */
export function withOldNames<V extends Variables>(variables: V): V {
  return withAlias(variables, (name) => name.replace(/^AUTH_/, 'GOTRUE_'))
}

/** For a text that must not be empty: one that is set to nothing has its default, as numbers do. */
export function unlessBlank<Value>(variable: Variable<Value>): Variable<Value> {
  return { ...variable, type: { ...variable.type, takesEmpty: false } }
}

export const off = /^\s*off\s*$/i

/** How many there may be; `0` and `off` turn the limit off, and are 0 here. */
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

/** For operators who believe that 0 refuses everything. */
export function noteIfOff(variable: Variable<number>, value: number, check: Check): void {
  if (value === 0) check.note(`${check.nameOf(variable)} is off: these requests are not limited`)
}

/** `a, b or c` */
export function toAlternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
