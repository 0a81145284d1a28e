// Runs a file of this repository on the Node that the repository pins, after making sure that the
// dependencies are installed and current:
//
//   node scripts/with-dependencies.mjs FILE [ARGUMENT…]
//
// This makes `npm start` and `npm test` work in a clean clone. Plain JavaScript: it runs on the
// machine's own Node, 20 or later.

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { ensureInstalled, InstallError, pinnedNode, root } from './install.mjs'

const [file, ...args] = process.argv.slice(2)
if (file === undefined) {
  console.error('Usage: node scripts/with-dependencies.mjs FILE [ARGUMENT…]')
  process.exit(2)
}

if (Number.parseInt(process.versions.node, 10) < 20) {
  console.error(
    `Node 20 or later is required; this is Node ${process.versions.node}. Install a newer one from ` +
      'https://nodejs.org or with your version manager, such as "nvm install 24".',
  )
  process.exit(1)
}

// An interrupted install must release its lock, which happens on exit.
const stopInstall = { SIGINT: () => process.exit(130), SIGTERM: () => process.exit(143) }
for (const [signal, stop] of Object.entries(stopInstall)) process.on(signal, stop)
try {
  await ensureInstalled(root)
} catch (error) {
  if (!(error instanceof InstallError)) throw error
  console.error(error.message)
  process.exit(1)
}
for (const [signal, stop] of Object.entries(stopInstall)) process.off(signal, stop)

const pathName = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
const binaries = join(root, 'node_modules', '.bin')
const path = process.env[pathName] ? binaries + delimiter + process.env[pathName] : binaries
const child = spawn(pinnedNode(root), [file, ...args], {
  env: { ...process.env, [pathName]: path },
  stdio: 'inherit',
})

// A terminal sends Ctrl-C to the child as well; forwarding it would count as a second Ctrl-C.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))

child.on('error', (error) => {
  console.error(`Cannot start ${pinnedNode(root)}: ${error.message}`)
  process.exitCode = 1
})
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
})
