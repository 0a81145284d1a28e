import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

export type GraphqlMajor = 16 | 17

/** The name under which each major version of graphql is installed in this repository. */
export const graphqlPackages = { 16: 'graphql-16', 17: 'graphql' } as const

/**
 * Makes every import or require of graphql in this process resolve to the same copy, also from
 * other package folders. Call it before anything that imports graphql.
 */
export function useOneGraphql(major: GraphqlMajor): void {
  const require = createRequire(import.meta.url)
  // The lookup below goes through the hook as well.
  let isLookup = false
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (isLookup || !/^graphql(\/|$)/.test(specifier)) return nextResolve(specifier, context)
      isLookup = true
      try {
        const file = require.resolve(specifier.replace('graphql', graphqlPackages[major]))
        return { url: pathToFileURL(file).href, shortCircuit: true }
      } finally {
        isLookup = false
      }
    },
  })
}

export function parseMajor(text: string | undefined): GraphqlMajor {
  if (text === '16') return 16
  if (text === '17') return 17
  throw new Error(`graphql ${text} cannot be measured: choose 16 or 17`)
}
