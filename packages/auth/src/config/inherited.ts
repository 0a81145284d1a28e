import type { Environment } from '@portcullis/service-kit/env'

/** Taken over from the server before, without a meaning: accepted, with a notice (D33). */
const inherited: Readonly<Record<string, string>> = {
  OPERATOR_TOKEN: 'belongs to the multi-instance mode, which is not supported',
  API_ENDPOINT: 'belongs to the multi-instance mode, which is not supported',
  MULTI_INSTANCE_MODE: 'is not supported: run one server for each instance',
}

const toSpellings = (name: string) => [`AUTH_${name}`, `GOTRUE_${name}`, name]

export const inheritedNames: readonly string[] = Object.keys(inherited).flatMap(toSpellings)

/** A deprecation notice for each that is set. */
export function toDeprecations(...sources: readonly Environment[]): string[] {
  return Object.entries(inherited).flatMap(([name, why]) =>
    toSpellings(name)
      .filter((spelling) => sources.some((source) => source[spelling]))
      .map((spelling) => `${spelling} is deprecated and has no effect: it ${why}`),
  )
}
