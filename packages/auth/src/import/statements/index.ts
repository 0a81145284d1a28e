import { customProviders } from './custom-providers.ts'
import { factors } from './factors.ts'
import { identities } from './identities.ts'
import type { ImportTable } from './import-table.ts'
import { oauthClients, oauthConsents } from './oauth-clients.ts'
import { passkeys } from './passkeys.ts'
import { sessions } from './sessions.ts'
import { ssoProviders } from './sso-providers.ts'
import { users } from './users.ts'

/** A table follows the tables that its foreign keys refer to. */
export const importTables: readonly ImportTable[] = [
  users,
  identities,
  factors,
  passkeys,
  ssoProviders,
  customProviders,
  oauthClients,
  oauthConsents,
  sessions,
]
