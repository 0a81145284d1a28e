import process from 'node:process'

/** What programs that we start know of our environment: where others are, and what is compiled already. */
export function toInheritedEnvironment(): Readonly<Record<string, string>> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}
