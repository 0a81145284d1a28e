import { apple } from './apple.ts'
import { azure } from './azure.ts'
import { bitbucket } from './bitbucket.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { figma } from './figma.ts'
import { fly } from './fly.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import { kakao } from './kakao.ts'
import { keycloak } from './keycloak.ts'
import { linkedin } from './linkedin.ts'
import { linkedinOidc } from './linkedin-oidc.ts'
import { notion } from './notion.ts'
import type { ProviderDefinition } from './oauth/provider.ts'
import { slack } from './slack.ts'
import { slackOidc } from './slack-oidc.ts'
import { snapchat } from './snapchat.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { twitter } from './twitter.ts'
import { vercelMarketplace } from './vercel-marketplace.ts'
import { workos } from './workos.ts'
import { x } from './x.ts'
import { zoom } from './zoom.ts'

/** The providers of the original Auth API: /settings lists all of them, in this order. */
const specified = {
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

/** The other providers: /settings lists those that are enabled, after the ones above. */
const further = {
  fly,
  kakao,
  linkedin_oidc: linkedinOidc,
  slack_oidc: slackOidc,
  snapchat,
  vercel_marketplace: vercelMarketplace,
  x,
  zoom,
} satisfies Readonly<Record<string, ProviderDefinition>>

export const providers = { ...specified, ...further }

export type ProviderId = keyof typeof providers

export const providerIds = Object.keys(providers).filter(isProviderId)

export const specifiedProviderIds = Object.keys(specified).filter(isProviderId)

export function isProviderId(text: string): text is ProviderId {
  return Object.hasOwn(providers, text)
}
