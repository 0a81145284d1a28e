#!/usr/bin/env node
import '@portcullis/service-kit/cli/require-node'
import process from 'node:process'

// Imported dynamically: older versions of Node.js lack this export, and would fail before the version check.
const { enableCompileCache } = await import('node:module')
// Caches the result of type stripping for the next start. Only modules that are loaded after this line are
// cached.
enableCompileCache()
const { runProgram } = await import('@portcullis/service-kit/cli/run-program')
const { createCommands } = await import('./commands/index.ts')
const { findHandOver, handOver } = await import('./commands/hand-over.ts')

const args = process.argv.slice(2)
const other = findHandOver(args)
if (other) {
  await handOver(other)
} else {
  await runProgram({
    name: 'portcullis',
    summary: 'Authentication, rate limits and GraphQL for your API, with a console.',
    manifest: new URL('../package.json', import.meta.url),
    commands: createCommands,
    args,
    startCommand: 'up',
  })
}
