import type { PartName, Ports } from './ports.ts'

export interface Suggestion {
  readonly part: PartName
  readonly toPurpose: (has: ReadonlySet<PartName>) => string
  readonly toCommand: (base: string, ports: Ports) => string
}

const account = '{"email":"me@example.com","password":"correct horse battery"}'
const entry = '{"key":"remote_address","value":"10.0.0.66"}'
const json = `-H 'content-type: application/json'`

/** What to do with everything that runs, the best first. They work as they are. */
const suggestions: readonly Suggestion[] = [
  {
    part: 'graphql',
    toPurpose: (has) =>
      `Ask the GraphQL API${has.has('ratelimit') ? '; the eleventh time in a minute it refuses' : ''}`,
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ hello }"}' ${base}:${graphql}/graphql`,
  },
  {
    part: 'auth',
    toPurpose: (has) =>
      `Sign up${has.has('mailbox') && has.has('console') ? '; the console shows the mail' : ''}`,
    toCommand: (base, { auth }) => `curl ${json} -d '${account}' ${base}:${auth}/signup`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'Ask whether a request may pass',
    toCommand: (base, { ratelimit }) =>
      `curl -d '{"domain":"api","descriptors":[{"entries":[${entry}]}]}' ${base}:${ratelimit}/json`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'See the rules that are loaded',
    toCommand: (base, { debug }) => `curl ${base}:${debug}/rlconfig`,
  },
  {
    part: 'auth',
    toPurpose: () => 'See which ways to sign in there are',
    toCommand: (base, { auth }) => `curl ${base}:${auth}/settings`,
  },
  {
    part: 'graphql',
    toPurpose: () => 'Ask for more',
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ castles(country: \\"Wales\\") { name built } }"}' ${base}:${graphql}/graphql`,
  },
]

const most = 3

export function chooseSuggestions(has: ReadonlySet<PartName>): readonly Suggestion[] {
  return suggestions.filter(({ part }) => has.has(part)).slice(0, most)
}
