import { otherPrograms } from '../../commands/hand-over.ts'
import { doorNames, doors, partNames, toFlag } from '../../up/ports.ts'
import type { CommandNode, CommandOption } from '../command-tree.ts'
import { shells } from '../shells/index.ts'
import { authTree } from './auth.ts'
import { graphqlTree } from './graphql.ts'
import { ratelimitTree } from './ratelimit.ts'

const portOptions = doorNames.map(
  (name): CommandOption => ({
    flags: [`--${toFlag(name)}`],
    summary: `the port of ${doors[name].what}`,
    value: 'any',
  }),
)

/** Those that are also programs of their own, by the names that these have. */
export const ownPrograms: Readonly<Record<string, CommandNode>> = {
  auth: authTree,
  ratelimit: ratelimitTree,
  'graphql-over-http': graphqlTree,
}

export const portcullisTree: CommandNode = {
  summary: 'auth, rate limits, GraphQL, and a console for them',
  commands: {
    up: {
      summary: 'start everything on this machine, with a console',
      options: [
        { flags: ['--data'], summary: 'where everything is kept', value: 'directory' },
        { flags: ['--fresh'], summary: 'remove what earlier starts kept' },
        { flags: ['--only'], summary: 'start only these', value: { list: partNames } },
        { flags: ['--no-console'], summary: 'start everything but the console' },
        { flags: ['--port-base'], summary: 'take the ports from this one on', value: 'any' },
        ...portOptions,
        { flags: ['--host'], summary: 'listen on this address', value: 'any' },
        { flags: ['--public-url'], summary: 'by which others reach it', value: 'any' },
        { flags: ['--allowed-host'], summary: 'a name for the console', value: 'any' },
      ],
    },
    auth: toCommand('auth', authTree),
    ratelimit: toCommand('ratelimit', ratelimitTree),
    graphql: toCommand('graphql', graphqlTree),
    console: {
      summary: 'open the console on servers that run already',
      options: [
        { flags: ['--auth-url'], summary: 'of the auth server', value: 'any' },
        { flags: ['--auth-key'], summary: 'a service key of it', value: 'any' },
        { flags: ['--ratelimit-debug-url'], summary: 'of its debug pages', value: 'any' },
        { flags: ['--ratelimit-url'], summary: 'of its JSON', value: 'any' },
        { flags: ['--rules'], summary: 'of its rule files, to edit them', value: 'directory' },
        { flags: ['--graphql-url'], summary: 'of a GraphQL API', value: 'any' },
        { flags: ['--port'], summary: 'to listen on', value: 'any' },
        { flags: ['--host'], summary: 'address to listen on', value: 'any' },
        { flags: ['--allowed-host'], summary: 'a name for the console', value: 'any' },
      ],
    },
    completion: {
      summary: 'print the completion of commands for a shell',
      options: [
        {
          flags: ['--for'],
          summary: 'complete this program instead of portcullis',
          value: { choices: Object.keys(ownPrograms) },
        },
      ],
      operands: { choices: Object.keys(shells) },
    },
  },
}

/** As a command of ours it is introduced in other words. */
function toCommand(name: string, tree: CommandNode): CommandNode {
  return { ...tree, summary: otherPrograms[name]?.summary ?? tree.summary }
}

/** Every program that can be completed. */
export const programs: Readonly<Record<string, CommandNode>> = {
  portcullis: portcullisTree,
  ...ownPrograms,
}
