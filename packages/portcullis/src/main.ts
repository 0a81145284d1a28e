#!/usr/bin/env node
import '@portcullis/service-kit/require-node'
import process from 'node:process'

// Older versions have no such export, which would end them before the check.
const { enableCompileCache } = await import('node:module')
// Types are stripped when a file is loaded; the next start finds the work done. What is to be
// cached must be loaded after this line.
enableCompileCache()
const { runProgram } = await import('@portcullis/service-kit/run-program')
const { createCommands } = await import('./commands/index.ts')
const { findHandOver, handOver } = await import('./commands/hand-over.ts')

const args = process.argv.slice(2)
const other = findHandOver(args)
if (other) {
  await handOver(other)
} else {
  await runProgram({
    name: 'portcullis',
    summary:
      'What stands at the gate of an API: auth, rate limits, GraphQL, and a console for them.',
    manifest: new URL('../package.json', import.meta.url),
    commands: createCommands,
    args,
    startCommand: 'up',
  })
}
