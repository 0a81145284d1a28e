import type { StartPart } from '../part.ts'
import type { PartName } from '../ports.ts'
import { startAuth } from './auth.ts'
import { startConsole } from './console.ts'
import { startGraphql } from './graphql.ts'
import { startMailbox } from './mailbox.ts'
import { startRatelimit } from './ratelimit.ts'

/** In the order in which they are listed and stopped last to first. */
export const parts: Readonly<Record<PartName, StartPart>> = {
  mailbox: startMailbox,
  auth: startAuth,
  ratelimit: startRatelimit,
  graphql: startGraphql,
  console: startConsole,
}
