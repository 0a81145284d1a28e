import type { OpenId, OpenIdSettings } from './oidc.ts'

/** Loaded, and with it all it takes to check signatures, when the first ID token comes. */
export function createOpenIdLater(settings: OpenIdSettings): OpenId {
  let loaded: Promise<OpenId> | undefined
  return {
    async verify(idToken, expected) {
      loaded ??= import('./oidc.ts').then(({ createOpenId }) => createOpenId(settings))
      return (await loaded).verify(idToken, expected)
    },
  }
}
