#!/usr/bin/env node
import '@portcullis/service-kit/require-node'
import process from 'node:process'

// Older versions have no such export, which would end them before the check.
const { enableCompileCache } = await import('node:module')
// Types are stripped when a file is loaded; the next start finds the work done. What is to be
// cached must be loaded after this line.
enableCompileCache()
const { runProgram } = await import('@portcullis/service-kit/run-program')
const { commands } = await import('./commands/index.ts')

await runProgram({
  name: 'ratelimit',
  summary: 'Answers rate limit decisions for Envoy and for your own code.',
  manifest: new URL('../package.json', import.meta.url),
  commands: () => commands,
  args: process.argv.slice(2),
})
