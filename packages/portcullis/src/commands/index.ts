import type { Command } from '@portcullis/service-kit/command'
import { createHandOver } from './hand-over.ts'

/** By name, in the order of the help text. Loaded when needed. */
export function createCommands(version: string): Readonly<Record<string, () => Promise<Command>>> {
  return {
    up: async () => (await import('./up.ts')).createUp(version),
    auth: async () => createHandOver('auth'),
    ratelimit: async () => createHandOver('ratelimit'),
    graphql: async () => createHandOver('graphql'),
    console: async () => (await import('./console.ts')).createConsoleCommand(version),
    completion: async () => (await import('./completion.ts')).completion,
  }
}
