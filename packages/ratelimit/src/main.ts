#!/usr/bin/env node
import '@portcullis/service-kit/cli/require-node'
import process from 'node:process'

// A static import would fail on older Node versions, which lack this export, before their version is checked.
const { enableCompileCache } = await import('node:module')
// Type stripping happens at load time, so caching its result makes the next start faster. Only modules
// that are loaded after this line are cached.
enableCompileCache()
const { runProgram } = await import('@portcullis/service-kit/cli/run-program')
const { commands } = await import('./commands/index.ts')

await runProgram({
  name: 'ratelimit',
  summary: 'A rate limit service for Envoy and for your own code.',
  manifest: new URL('../package.json', import.meta.url),
  commands: () => commands,
  args: process.argv.slice(2),
})
