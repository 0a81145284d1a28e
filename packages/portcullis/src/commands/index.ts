import type { Command } from '@portcullis/service-kit/command'

/** By name, in the order of the help text. Loaded when needed. */
export function createCommands(version: string): Readonly<Record<string, () => Promise<Command>>> {
  return {
    up: async () => (await import('./up.ts')).createUp(version),
  }
}
