import { isObject, type JsonObject } from './provider-http.ts'

/** What is at a path of an answer; undefined where the answer is another than we know. */
export function readAt(answer: unknown, ...path: readonly (string | number)[]): unknown {
  let found = answer
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = Reflect.get(found, step)
  }
  return found
}

export function readObjects(
  answer: unknown,
  ...path: readonly (string | number)[]
): readonly JsonObject[] {
  const found = readAt(answer, ...path)
  return Array.isArray(found) ? found.filter(isObject) : []
}

/** Of those parts of a name that there are; undefined: none. */
export function joinNames(...parts: readonly unknown[]): string | undefined {
  const names = parts.filter((part): part is string => typeof part === 'string' && part !== '')
  return names.length === 0 ? undefined : names.join(' ')
}
