#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import process from 'node:process'

// Types are stripped when a file is loaded; the next start finds the work done. What is to be
// cached must be loaded after this line.
enableCompileCache()
const { dispatch } = await import('@portcullis/service-kit/dispatch')
const { commands } = await import('./commands/index.ts')

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const exitCode = await dispatch(
  {
    name: 'ratelimit',
    version: manifest.version,
    summary: 'Answers rate limit decisions for Envoy and for your own code.',
    commands,
  },
  process.argv.slice(2),
  {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
  },
)
// What a command left open must not keep the process from ending.
process.stdout.write('', () => process.exit(exitCode))
