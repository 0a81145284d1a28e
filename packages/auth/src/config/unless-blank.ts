import type { Variable } from '@portcullis/service-kit/env'

/** For a text that must not be empty: one that is set to nothing has its default, as numbers do. */
export function unlessBlank<Value>(variable: Variable<Value>): Variable<Value> {
  return { ...variable, type: { ...variable.type, takesEmpty: false } }
}
