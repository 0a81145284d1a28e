import type { ProviderShape } from '../provider-shape.ts'
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
import { slack } from './slack.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { twitter } from './twitter.ts'
import { workos } from './workos.ts'

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
]
