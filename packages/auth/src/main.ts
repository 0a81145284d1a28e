#!/usr/bin/env node
import '@portcullis/service-kit/require-node'
import process from 'node:process'

// Older versions have no such export, which would end them before the check.
const { enableCompileCache } = await import('node:module')
// Types are stripped when a file is loaded; the next start finds the work done. What is to be
// cached must be loaded after this line.
enableCompileCache()
const { keepYoungSpaceSmall } = await import('@portcullis/service-kit/young-space')
keepYoungSpaceSmall()
const { runProgram } = await import('@portcullis/service-kit/run-program')
const { commands } = await import('./commands/index.ts')

const args = process.argv.slice(2)
const [first] = args
// Without a command the server migrates and serves, as in a container.
const isBare =
  first === undefined || (first.startsWith('-') && !/^--?(?:h|help|v|version)$/.test(first))

await runProgram({
  name: 'auth',
  summary: 'Signs people in: users, tokens, email. Without a command it migrates and serves.',
  manifest: new URL('../package.json', import.meta.url),
  commands,
  args: isBare ? ['up', ...args] : args,
})
