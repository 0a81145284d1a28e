import type { LoadCommands } from '../completion/command-tree.ts'
import { createHandOver } from './hand-over.ts'

/** The commands by name, in the order of the help text; each is loaded when needed. */
export function createCommands(version: string): LoadCommands {
  const commands: LoadCommands = {
    up: async () => (await import('./up.ts')).createUp(version),
    auth: () => createHandOver('auth'),
    ratelimit: () => createHandOver('ratelimit'),
    graphql: () => createHandOver('graphql'),
    users: async () => (await import('./users/command.ts')).users,
    clients: async () => (await import('./access/clients.ts')).clients,
    providers: async () => (await import('./access/providers.ts')).providers,
    sso: async () => (await import('./access/sso.ts')).sso,
    keys: async () => (await import('./access/keys.ts')).keys,
    mail: async () => (await import('./mail.ts')).mail,
    token: async () => (await import('./token.ts')).token,
    console: async () => (await import('./console.ts')).createConsoleCommand(version),
    events: async () => (await import('./events.ts')).eventsCommand,
    limits: async () => (await import('./limits.ts')).limitsCommand,
    completion: async () => (await import('./completion.ts')).createCompletion(commands),
  }
  return commands
}
