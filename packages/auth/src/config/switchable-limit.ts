import type { Check } from '@portcullis/service-kit/config-check'
import { integer, type Variable } from '@portcullis/service-kit/env'

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
