import type { PartName, Ports } from './ports.ts'

export interface Suggestion {
  readonly part: PartName
  readonly toPurpose: (has: ReadonlySet<PartName>) => string
  readonly toCommand: (base: string, ports: Ports) => string
}

const account = '{"email":"me@example.com","password":"correct horse battery"}'
const entry = '{"key":"remote_address","value":"10.0.0.66"}'
const json = `-H 'content-type: application/json'`

/** Commands to try, the most useful first. They work without changes. */
const suggestions: readonly Suggestion[] = [
  {
    part: 'graphql',
    toPurpose: (has) =>
      `Query the GraphQL API${has.has('ratelimit') ? '; the eleventh request within a minute is refused' : ''}`,
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ hello }"}' ${base}:${graphql}/graphql`,
  },
  {
    part: 'auth',
    toPurpose: (has) =>
      `Sign up${has.has('mailbox') && has.has('console') ? '; the console shows the confirmation mail' : ''}`,
    toCommand: (base, { auth }) => `curl ${json} -d '${account}' ${base}:${auth}/signup`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'Check whether a request is within its limit',
    toCommand: (base, { ratelimit }) =>
      `curl -d '{"domain":"api","descriptors":[{"entries":[${entry}]}]}' ${base}:${ratelimit}/json`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'List the loaded rules',
    toCommand: (base, { debug }) => `curl ${base}:${debug}/rlconfig`,
  },
  {
    part: 'auth',
    toPurpose: () => 'List the enabled sign-in methods',
    toCommand: (base, { auth }) => `curl ${base}:${auth}/settings`,
  },
  {
    part: 'graphql',
    toPurpose: () => 'Query some sample data',
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ castles(country: \\"Wales\\") { name built } }"}' ${base}:${graphql}/graphql`,
  },
]

const most = 3

export function chooseSuggestions(has: ReadonlySet<PartName>): readonly Suggestion[] {
  return suggestions.filter(({ part }) => has.has(part)).slice(0, most)
}
