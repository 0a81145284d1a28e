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

const [first] = process.argv.slice(2)
// Without a command the server migrates and serves, as in a container.
const isBare =
  first === undefined || (first.startsWith('-') && !/^--?(?:h|help|v|version)$/.test(first))
const args = isBare ? ['up', ...process.argv.slice(2)] : process.argv.slice(2)

const exitCode = await dispatch(
  {
    name: 'auth',
    version: manifest.version,
    summary: 'Signs people in: users, tokens, email. Without a command it migrates and serves.',
    commands: commands(manifest.version),
  },
  args,
  {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
  },
)
// What a command left open must not keep the process from ending.
process.stdout.write('', () => process.exit(exitCode))
