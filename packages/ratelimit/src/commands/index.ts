import type { Command } from '@portcullis/service-kit/cli/command'

/**
 * Commands by name, in the order of the help text. Each is loaded on demand: `client` needs nothing from
 * `serve`.
 */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  client: async () => (await import('./client.ts')).client,
  check: async () => (await import('./check.ts')).check,
  explain: async () => (await import('./explain.ts')).explain,
  test: async () => (await import('./policy-tests.ts')).policyTests,
  replay: async () => (await import('./replay.ts')).replay,
}
