import { apple } from './apple.ts'
import { azure } from './azure.ts'
import { bitbucket } from './bitbucket.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { figma } from './figma.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import { keycloak } from './keycloak.ts'
import { linkedin } from './linkedin.ts'
import { notion } from './notion.ts'
import type { ProviderDefinition } from './oauth/provider.ts'
import { slack } from './slack.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { twitter } from './twitter.ts'
import { workos } from './workos.ts'

/** Sorted by name, because /settings lists them in this order. */
export const providers = {
  apple,
  azure,
  bitbucket,
  discord,
  facebook,
  figma,
  github,
  gitlab,
  google,
  keycloak,
  linkedin,
  notion,
  slack,
  spotify,
  twitch,
  twitter,
  workos,
} satisfies Readonly<Record<string, ProviderDefinition>>

export type ProviderId = keyof typeof providers

export const providerIds = Object.keys(providers).filter(isProviderId)

export function isProviderId(text: string): text is ProviderId {
  return Object.hasOwn(providers, text)
}
