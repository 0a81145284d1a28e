#!/usr/bin/env node
import '@portcullis/service-kit/cli/require-node'
import process from 'node:process'

// Older Node.js versions lack this export, and a static import would fail before the version check.
const { enableCompileCache } = await import('node:module')
// Types are stripped when a file is loaded, and the cache saves that at the next start. It applies
// only to modules loaded after this call.
enableCompileCache()
const { keepYoungSpaceSmall } = await import('@portcullis/service-kit/process/young-space')
keepYoungSpaceSmall()
const { runProgram } = await import('@portcullis/service-kit/cli/run-program')
const { commands } = await import('./commands/index.ts')

const args = process.argv.slice(2)
const [first] = args
// Without a command, the server migrates and serves, which suits containers.
const isBare =
  first === undefined || (first.startsWith('-') && !/^--?(?:h|help|v|version)$/.test(first))

await runProgram({
  name: 'auth',
  summary:
    'Authentication server: users, sessions and messages.\nWithout a command, it migrates and serves.',
  manifest: new URL('../package.json', import.meta.url),
  commands,
  args: isBare ? ['up', ...args] : args,
})
