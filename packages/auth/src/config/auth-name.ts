import { type Variables, withAlias } from '@portcullis/service-kit/env'

/** Every variable has the name of the server before as well: `AUTH_SITE_URL`, `GOTRUE_SITE_URL`. */
export function withOldNames<V extends Variables>(variables: V): V {
  return withAlias(variables, (name) => name.replace(/^AUTH_/, 'GOTRUE_'))
}
