import type { ProviderShape } from '../provider-shape.ts'
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

/** Every registered provider must be in this list. */
export const providerShapes: readonly ProviderShape[] = [
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
  fly,
  kakao,
  linkedinOidc,
  slackOidc,
  snapchat,
  vercelMarketplace,
  x,
  zoom,
]
