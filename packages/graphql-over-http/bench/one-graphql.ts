import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

export type GraphqlMajor = 16 | 17

/** Under which name a major version of graphql is installed in this repository. */
export const graphqlPackages = { 16: 'graphql-16', 17: 'graphql' } as const

/**
 * From now on whoever imports or requires graphql in this process, also from another folder of
 * packages, gets the very same copy. Call it before anything that imports graphql.
 */
export function useOneGraphql(major: GraphqlMajor): void {
  const require = createRequire(import.meta.url)
  // The lookup below comes through the hook as well.
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
  throw new Error(`There is no graphql ${text} to measure with: choose 16 or 17`)
}
