import { chapters as authChapters } from '../../../../packages/auth/src/config/config.ts'
import { chapters as ratelimitChapters } from '../../../../packages/ratelimit/src/config/config.ts'

/** The names of all environment variables of a server, including aliases. */
export const knownVariables: Readonly<Record<'auth' | 'ratelimit', ReadonlySet<string>>> = {
  auth: toNames(authChapters),
  ratelimit: toNames(ratelimitChapters),
}

function toNames(chapters: Readonly<Record<string, { variables: object }>>): Set<string> {
  return new Set(
    Object.values(chapters).flatMap(({ variables }) =>
      Object.values(variables).flatMap(({ name, aliases }) => [name, ...aliases]),
    ),
  )
}
